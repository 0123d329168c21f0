# cmake -DBUILD=<build folder> -DSOURCE=<consumer> -DCOMPILER=… -DLAUNCHER=… -DFLAGS=… -P install_consumer.cmake
# Installs the build into a fresh prefix, then configures, builds and runs a project that knows only that prefix: it
# maps a network, and must find what the program finds.
set(work ${BUILD}/install_consumer)
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "'${ARGN}' ended with ${code}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${prefix}/bin/tilewright --version)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${work}/build -G Ninja -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/consumer ${SOURCE}/../../docs/examples/model.onnx zoo:eyeriss 40)
message(STATUS "${output}")
set(consumed "${output}")
# The program finds the same.
run(${prefix}/bin/tilewright map ${SOURCE}/../../docs/examples/model.onnx --hardware zoo:eyeriss --samples 40 --json)
string(FIND "${output}" "\"totals\"" at)
string(SUBSTRING "${output}" ${at} -1 totals)
string(REGEX MATCH "\"latency[a-z_]*\": *([0-9]+)" found "${totals}")
if(NOT consumed STREQUAL "${CMAKE_MATCH_1}\n")
  message(FATAL_ERROR "the consumer found ${consumed} cycles, the program ${CMAKE_MATCH_1}")
endif()

# An installed file that points back into the checkout works here and nowhere else.
file(GLOB package ${prefix}/lib*/cmake/tilewright/*.cmake ${prefix}/lib/*/cmake/tilewright/*.cmake)
if(NOT package)
  message(FATAL_ERROR "no package files below ${prefix}")
endif()
get_filename_component(checkout ${SOURCE}/../.. ABSOLUTE)
foreach(file IN LISTS package)
  file(READ ${file} text)
  foreach(path ${checkout} ${BUILD})
    string(FIND "${text}" "${path}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} names ${path}")
    endif()
  endforeach()
endforeach()
