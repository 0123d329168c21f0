# Our own code is compiled with these; nothing that links us inherits them. Contraction stays off because MAESTRO's printed
# digits depend on two roundings where a fused multiply-add has one.
add_library(tilewright_flags INTERFACE)
target_compile_options(tilewright_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fno-math-errno
                                                  -ffp-contract=off)

# The compiler's own garbage collection begins at 128 MB, which precompiled headers take alone.
target_compile_options(tilewright_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=600000>)

# What a file takes most of its time to read are headers of the standard library and fmt: they are compiled once for all
# targets with the same options. A file still includes what it uses; the preset tidy compiles without this. JSON is added
# where most files need it: it costs every file that has it a third of a second.
set(tilewright_common_headers <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory> <numeric>
                              <optional> <set> <span> <string> <string_view> <utility> <variant> <vector> <fmt/format.h>)
set(tilewright_json_header ${PROJECT_SOURCE_DIR}/src/tilewright/base/json_templates.hpp)
if(CMAKE_CXX_FLAGS MATCHES "-O2")
  set(tilewright_quick_options -O1)
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "// Only its headers count.\n")
foreach(kind modules quick_modules quick_json_modules)
  add_library(tilewright_precompiled_${kind} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(tilewright_precompiled_${kind} PRIVATE fmt::fmt nlohmann_json::nlohmann_json tilewright_flags)
  set_target_properties(tilewright_precompiled_${kind} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_precompile_headers(tilewright_precompiled_${kind} PRIVATE ${tilewright_common_headers})
endforeach()
target_compile_options(tilewright_precompiled_quick_modules PRIVATE ${tilewright_quick_options})
target_compile_options(tilewright_precompiled_quick_json_modules PRIVATE ${tilewright_quick_options})
target_precompile_headers(tilewright_precompiled_quick_json_modules PRIVATE ${tilewright_json_header})

# tilewright_module(NAME [QUICK [JSON]] SOURCES a.cpp… [APART a.cpp…] [DEPENDS module…] [LINK library…] [PRIVATE_LINK library…])
# One folder of src/tilewright is one library tilewright::NAME. DEPENDS is the truth about layers: script/layers checks the
# includes against it. Sources that APART names again are compiled alone also where the others are compiled several at a
# time (preset unity). Hardly any time is spent in QUICK modules: while developing they are compiled with less optimisation,
# which takes a third less time. JSON says that most of their files read or write it.
function(tilewright_module name)
  cmake_parse_arguments(ARG "QUICK;JSON" "" "SOURCES;APART;DEPENDS;LINK;PRIVATE_LINK" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${name}/)
  list(TRANSFORM ARG_APART PREPEND ${name}/)
  list(TRANSFORM ARG_DEPENDS PREPEND tilewright::)
  add_library(tilewright_${name} STATIC ${ARG_SOURCES})
  add_library(tilewright::${name} ALIAS tilewright_${name})
  set_target_properties(tilewright_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 14)
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(tilewright_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(tilewright_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                                       $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(tilewright_${name} PUBLIC cxx_std_20)
  target_link_libraries(tilewright_${name} PUBLIC ${ARG_DEPENDS} ${ARG_LINK}
                                           PRIVATE ${ARG_PRIVATE_LINK} $<BUILD_INTERFACE:tilewright_flags>)
  set(kind quick_modules)
  if(ARG_JSON)
    set(kind quick_json_modules)
  endif()
  if(ARG_QUICK)
    target_compile_options(tilewright_${name} PRIVATE ${tilewright_quick_options})
    target_precompile_headers(tilewright_${name} REUSE_FROM tilewright_precompiled_${kind})
  else()
    target_precompile_headers(tilewright_${name} REUSE_FROM tilewright_precompiled_modules)
  endif()
  install(TARGETS tilewright_${name} EXPORT tilewright)
endfunction()
