// Max pooling. The GEMM core copies a tile of the input into the accumulators (times the identity), a second region starts
// at the least int8 number, and the ALU takes the maximum with every position of the window in turn, each over the rows and
// columns of the result for which it lies inside the input. So padding is exact for negative numbers too.
#pragma once

#include "tilewright/vta/generator.hpp"
#include "tilewright/vta/generator_loops.hpp"

namespace tilewright::vta {

ElementLoops pool_loops(const PoolTask& task, const Machine& machine);
std::optional<Misfit> max_pool_misfit(const ElementLoops& loops, const Machine& machine, const Schedule& schedule);
void generate_max_pool(const ElementLoops& loops, const Machine& machine, const Schedule& schedule,
                       const Finishing& finishing, const Addresses& addresses, Code& code);

}  // namespace tilewright::vta
