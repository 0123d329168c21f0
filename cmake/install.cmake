# cmake --install gives the program, the headers, and a package that `find_package(tilewright)` finds.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)
install(TARGETS tilewright RUNTIME)
install(DIRECTORY src/tilewright TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp" PATTERN app EXCLUDE)
install(EXPORT tilewright NAMESPACE tilewright:: DESTINATION ${package_dir})
configure_package_config_file(cmake/tilewright-config.cmake.in tilewright-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tilewright-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tilewright-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/tilewright-config-version.cmake DESTINATION ${package_dir})
