# What an installed prefix holds, wherever it is moved to afterwards.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(lazyonce_package "${CMAKE_INSTALL_LIBDIR}/cmake/lazyonce")
# Within 0.x the interface only grows (docs/abi.md), so a newer minor version serves as well.
write_basic_package_version_file(lazyonceConfigVersion.cmake COMPATIBILITY SameMajorVersion)
configure_package_config_file(lazyonceConfig.cmake.in lazyonceConfig.cmake
    INSTALL_DESTINATION "${lazyonce_package}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR
    NO_SET_AND_CHECK_MACRO)
# A folder may be given as an absolute path; then it is not in the prefix, and does not move with it.
set(lazyonce_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(lazyonce_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
set(lazyonce_installed "\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}")
file(RELATIVE_PATH lazyonce_up "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
string(REGEX REPLACE "/$" "" lazyonce_up "${lazyonce_up}")
set(lazyonce_prefix "\${pcfiledir}/${lazyonce_up}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(lazyonce_libdir "${CMAKE_INSTALL_LIBDIR}")
    set(lazyonce_installed "${CMAKE_INSTALL_LIBDIR}")
    set(lazyonce_prefix "${CMAKE_INSTALL_PREFIX}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(lazyonce_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(lazyonce.pc.in lazyonce.pc @ONLY)

# What has been built is installed as it is: whoever installs, as root or from another machine, may have no cargo.
install(CODE "if(NOT EXISTS \"${lazyonce_shared}\" OR NOT EXISTS \"${lazyonce_static}\")
    execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target lazyonce_build RESULT_VARIABLE failed)
    if(failed)
        message(FATAL_ERROR \"cargo could not build lazyonce\")
    endif()
endif()")
install(DIRECTORY "${lazyonce_include}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES "${lazyonce_shared}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" RENAME liblazyonce.so.0
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
file(CREATE_LINK liblazyonce.so.0 "${CMAKE_CURRENT_BINARY_DIR}/liblazyonce.so" SYMBOLIC)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/liblazyonce.so" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# gdb looks beside the library, and loads what it finds there if its user trusts the folder; without asking, it trusts a folder of its own,
# which has the paths of the system's libraries.
install(CODE "set(folder \"${lazyonce_installed}\")
if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(folder \"/usr/share/gdb/auto-load\${folder}\")
endif()
file(INSTALL \"${CMAKE_CURRENT_SOURCE_DIR}/lazyonce-gdb.py\" DESTINATION \"\${folder}\" RENAME liblazyonce.so.0-gdb.py)")
install(FILES "${lazyonce_static}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/lazyonceConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/lazyonceConfigVersion.cmake"
    lazyonceTargets.cmake DESTINATION "${lazyonce_package}")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/lazyonce.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES "${lazyonce_source}/LICENSE-MIT" "${lazyonce_source}/LICENSE-APACHE"
    DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/lazyonce")

# The same as an archive, for machines without Rust; a project around this one packs itself.
if(lazyonce_is_top_level)
    set(CPACK_GENERATOR TGZ)
    set(CPACK_PACKAGE_FILE_NAME "lazyonce-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
    include(CPack)
endif()
