#include <memory>

#include <fmt/format.h>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/study/verification.hpp"

namespace tilewright {
namespace {

struct VerifyArguments {
  std::string result;  // a file, or the directory of a run
  bool json = false;
};

Result<int> verify_and_tell(const VerifyArguments& arguments) {
  if (arguments.result.empty()) {
    return invalid("the result is missing, expected a result.json or the directory of a run");
  }
  TW_TRY(const Verdicts verdicts, verify(arguments.result));
  const bool equal = verdicts.is_equal();
  if (arguments.json) {
    print(to_json(verdicts));
  } else {
    for (const std::string& fault : verdicts.faults) print(fmt::format("{}: {}\n", arguments.result, printable(fault)));
    print(fmt::format("{}: {}{}{}\n", arguments.result, equal ? "" : fmt::format("{} differences", verdicts.faults.size()),
                      equal || verdicts.checked.empty() ? "" : "; ", printable(join(verdicts.checked, "; "))));
  }
  return equal ? kExitDone : kExitDiffers;
}

}  // namespace

Verb verify_verb() {
  const auto arguments = std::make_shared<VerifyArguments>();
  return {.name = "verify",
          .summary = "compute a result again, compare every number, and check every file of a run",
          .options = {{"result", &arguments->result, "a result.json, or the directory of a run", {.positional = true}},
                      {"json", &arguments->json, "everything as JSON"}},
          .footer = examples_text({{"tilewright verify runs/alexnet", "the run in a directory"},
                                   {"tilewright verify runs/alexnet/result.json", "a result file alone"}}),
          .run = [arguments] {
            const Result<int> code = verify_and_tell(*arguments);
            return code ? *code : report(code.error());
          }};
}

}  // namespace tilewright
