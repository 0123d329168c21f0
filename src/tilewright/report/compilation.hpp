// A compiled network as people read it.
#pragma once

#include <filesystem>
#include <string>

#include "tilewright/study/compilation.hpp"

namespace tilewright {

std::string to_text(const CompilationStudy& study);

// Where there were images: a line per step (step, name, kind, on, snr_db), and a page that begins with the worst.
std::string accuracy_csv(const CompilationStudy& study);
std::string accuracy_page(const CompilationStudy& study);
// accuracy.csv and accuracy.html, where there were images.
Result<Done> write_files(const CompilationStudy& study, const std::filesystem::path& folder);

}  // namespace tilewright
