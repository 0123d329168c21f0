# cmake --install gives the program, the headers, and a package that `find_package(tilewright)` finds.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)
# Libraries that script/package puts beside the program are found from any folder; elsewhere there are none.
set_target_properties(tilewright PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/tilewright")
target_link_options(tilewright PRIVATE -Wl,--disable-new-dtags)  # else what libraries need themselves is not looked for there
install(TARGETS tilewright RUNTIME COMPONENT program)
install(DIRECTORY src/tilewright TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp" PATTERN app EXCLUDE)
install(EXPORT tilewright NAMESPACE tilewright:: DESTINATION ${package_dir})
configure_package_config_file(cmake/tilewright-config.cmake.in tilewright-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tilewright-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tilewright-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/tilewright-config-version.cmake DESTINATION ${package_dir})

# What shells and man read is printed by the program itself, when it is installed.
install(CODE "
  function(print_into place)
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/\${place}\")
    get_filename_component(folder \"\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:tilewright>\" \${ARGN} OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  print_into(bash-completion/completions/tilewright completion bash)
  print_into(zsh/site-functions/_tilewright completion zsh)
  print_into(man/man1/tilewright.1 man)" COMPONENT program)
