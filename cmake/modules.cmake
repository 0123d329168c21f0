# Our own code is compiled with these; nothing that links us inherits them. Contraction stays off because MAESTRO's printed
# digits depend on two roundings where a fused multiply-add has one.
add_library(tilewright_flags INTERFACE)
target_compile_options(tilewright_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fno-math-errno
                                                  -ffp-contract=off)

# tilewright_module(NAME SOURCES a.cpp… [APART a.cpp…] [DEPENDS module…] [LINK library…] [PRIVATE_LINK library…])
# One folder of src/tilewright is one library tilewright::NAME. DEPENDS is the truth about layers: script/layers checks the
# includes against it. Sources are compiled several at a time, which halves the time of a full build; those that APART names
# again are compiled alone. Helpers in unnamed namespaces of one module therefore need different names.
function(tilewright_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;APART;DEPENDS;LINK;PRIVATE_LINK" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${name}/)
  list(TRANSFORM ARG_APART PREPEND ${name}/)
  list(TRANSFORM ARG_DEPENDS PREPEND tilewright::)
  add_library(tilewright_${name} STATIC ${ARG_SOURCES})
  add_library(tilewright::${name} ALIAS tilewright_${name})
  set_target_properties(tilewright_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 14)
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(tilewright_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(tilewright_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                                       $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(tilewright_${name} PUBLIC cxx_std_20)
  target_link_libraries(tilewright_${name} PUBLIC ${ARG_DEPENDS} ${ARG_LINK}
                                           PRIVATE ${ARG_PRIVATE_LINK} $<BUILD_INTERFACE:tilewright_flags>)
  install(TARGETS tilewright_${name} EXPORT tilewright)
endfunction()
