import alone  # noqa: F401  says where the library is, before a test imports the package
