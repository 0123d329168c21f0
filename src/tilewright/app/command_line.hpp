// The options of the larger verbs: each adds them to its verb and writes what is parsed into the arguments.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tilewright {

struct AgentsArguments;
struct CodesignArguments;
struct CompareArguments;
struct CompileArguments;
struct MapArguments;
struct SimulateArguments;
struct TrainArguments;

// --dim, of every verb that reads ONNX models.
void add_dim_option(CLI::App& verb, std::vector<std::string>& dims);
// Of a verb with all its options: numbers that do not fit, or are none, become one sentence.
void check_numbers(CLI::App& verb);

void add_train_options(CLI::App& verb, TrainArguments& train);

void add_map_options(CLI::App& verb, MapArguments& map);
void add_agents_options(CLI::App& verb, AgentsArguments& agents);
void add_compare_options(CLI::App& verb, CompareArguments& compare);

void add_codesign_options(CLI::App& verb, CodesignArguments& codesign);
void add_compile_options(CLI::App& verb, CompileArguments& compile);
void add_simulate_options(CLI::App& verb, SimulateArguments& simulate);

}  // namespace tilewright
