# The targets, for the source tree and for an installed prefix alike. The including file has set lazyonce_include,
# lazyonce_shared and lazyonce_static; a static library that is not there, as in a Python wheel, has no target.
if(NOT TARGET lazyonce::lazyonce)
    add_library(lazyonce::lazyonce SHARED IMPORTED GLOBAL)
    set_target_properties(lazyonce::lazyonce PROPERTIES
        IMPORTED_LOCATION "${lazyonce_shared}"
        IMPORTED_SONAME liblazyonce.so.0
        INTERFACE_INCLUDE_DIRECTORIES "${lazyonce_include}")
endif()

if(NOT TARGET lazyonce::static AND (EXISTS "${lazyonce_static}" OR TARGET lazyonce_build))
    add_library(lazyonce::static STATIC IMPORTED GLOBAL)
    # Its fork handlers and thread-exit destructors must outlive every dlclose of the object that it is linked into.
    # Its names are not the object's to export: another copy would answer to them, or answer them.
    # gcc_s: callbacks may throw, which takes the shared unwinder.
    set_target_properties(lazyonce::static PROPERTIES
        IMPORTED_LOCATION "${lazyonce_static}"
        INTERFACE_INCLUDE_DIRECTORIES "${lazyonce_include}"
        INTERFACE_LINK_LIBRARIES "gcc_s;pthread;dl;m"
        INTERFACE_LINK_OPTIONS "LINKER:-z,nodelete;LINKER:--exclude-libs,liblazyonce.a")
endif()
