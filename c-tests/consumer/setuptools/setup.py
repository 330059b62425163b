import os
from setuptools import Extension, setup

prefix = os.environ["LAZYONCE_PREFIX"]
lib = os.path.join(prefix, "lib")
setup(
    name="lazyonce-consumer",
    ext_modules=[
        Extension(
            "consumer",
            ["extension.c"],
            include_dirs=[os.path.join(prefix, "include")],
            library_dirs=[lib],
            runtime_library_dirs=[lib],
            libraries=["lazyonce"],
            extra_compile_args=["-fexceptions"],
        )
    ],
)
