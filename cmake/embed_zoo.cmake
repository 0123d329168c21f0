# cmake -DZOO=<folder> -DOUTPUT=<file.cpp> -P embed_zoo.cmake
# Writes every zoo file into one C++ source, so that the program needs no data folder at run time.
file(GLOB files RELATIVE ${ZOO} ${ZOO}/*/*.yaml)
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(kind ${file} DIRECTORY)
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${ZOO}/${file} text)
  string(APPEND entries "    {\"${kind}\", \"${name}\", R\"zoo(${text})zoo\"},\n")
endforeach()
file(WRITE ${OUTPUT}.new "#include \"tilewright/zoo/zoo.hpp\"

namespace tilewright {
namespace {
constexpr ZooFile kFiles[] = {
${entries}};
}  // namespace
std::span<const ZooFile> zoo_files() { return kFiles; }
}  // namespace tilewright
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
