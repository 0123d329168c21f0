// The command line: verbs and their options are parsed here, all work is in the verbs.
#include <cerrno>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tilewright/app/command_line.hpp"
#include "tilewright/app/manual.hpp"
#include "tilewright/app/option_flags.hpp"
#include "tilewright/app/terminal.hpp"
#include "tilewright/app/verb.hpp"
#include "tilewright/base/parallel.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

int run(int argc, char** argv) {
  CLI::App app{"Tilewright decides how a deep neural network runs on an accelerator.", "tilewright"};
  app.set_version_flag("--version", "tilewright " TILEWRIGHT_VERSION);
  app.require_subcommand(1);
  app.footer(examples_text(
      {{"tilewright help map", "documents a verb; so does tilewright map --help"},
       {"tilewright map zoo:alexnet --hardware zoo:eyeriss --samples 200 -o runs/alexnet", "a network on a machine"},
       {"tilewright zoo", "the networks and machines that come along"}}));

  const std::vector<Verb> verbs = all_verbs(Command(argv, argv + argc));
  std::vector<CLI::App*> parsers;
  for (const Verb& verb : verbs) {
    CLI::App* parser = parsers.emplace_back(app.add_subcommand(verb.name, verb.summary));
    add_options(*parser, verb.options);
    parser->footer(verb.footer);
  }
  std::string help_about;
  CLI::App* help_verb = app.add_subcommand("help", "what a verb does, its options and examples");
  help_verb->add_option("verb", help_about, "one of the verbs; without it, all of them");
  help_verb->footer(examples_text({{"tilewright help", "the verbs"}, {"tilewright help map", "the same as map --help"}}));

  for (CLI::App* parser : app.get_subcommands({})) check_numbers(*parser);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    if (failure.get_exit_code() == 0) return app.exit(failure);
    if (argc == 1) {
      say(app.help());
      return kExitWrongInput;
    }
    return report(to_error(app, failure, argc, argv));
  }
  if (help_verb->parsed()) return run_help(app, std::string(help_about));
  for (std::size_t i = 0; i < verbs.size(); ++i) {
    if (!parsers[i]->parsed()) continue;
    const Result<Done> within = check_ranges(verbs[i].options);
    return within ? verbs[i].run() : report(within.error());
  }
  return kExitWrongInput;
}

}  // namespace

std::vector<Verb> all_verbs(const Command& command) {
  return {evaluate_verb(),
          explain_verb(),
          bound_verb(),
          train_verb(command),
          map_verb(command),
          agents_verb(command),
          compare_verb(command),
          codesign_verb(command),
          compile_verb(command),
          simulate_verb(),
          campaign_verb(command),
          verify_verb(),
          resume_verb(command),
          points_verb(),
          zoo_verb(),
          completion_verb(),
          man_verb()};
}

int report(const Error& error) {
  const bool text = is_text(error.message);
  std::string sentence;  // names out of a hostile file must not reach the terminal as they are
  for (const char c : error.message) {
    const auto byte = static_cast<unsigned char>(c);
    sentence += byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !text) ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  say(sentence + "\n");
  return kExitWrongInput;
}

}  // namespace tilewright

namespace {

// Without memory, and in any thread. What was measured is in the store, so a smaller request can go on from it.
[[noreturn]] void end_at_once(std::string_view sentence, int code) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, sentence.data(), sentence.size());
  _exit(code);
}

[[noreturn]] void end_without_memory() {
  end_at_once("out of memory, expected a smaller network, fewer --threads or more memory\n", tilewright::kExitWrongInput);
}

[[noreturn]] void end_without_handler() {
  end_at_once("tilewright: failed in an unexpected way\n", tilewright::kExitFailed);
}

int guarded_run(int argc, char** argv) {
  try {
    return tilewright::run(argc, argv);
  } catch (const tilewright::Stopped&) {
    tilewright::say("stopped before there was anything to keep\n");
    return tilewright::kExitInterrupted;
  } catch (const std::exception& failure) {
    tilewright::report(tilewright::invalid(fmt::format("tilewright: failed in an unexpected way: {}", failure.what())));
    return tilewright::kExitFailed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(end_without_memory);
  std::set_terminate(end_without_handler);
  tilewright::hold_standard_streams();
  const int code = guarded_run(argc, argv);
  // A full disk or a closed pipe shows only when the last bytes leave.
  const bool flushed = std::fflush(stdout) == 0;
  if (tilewright::has_reader_left() || (!flushed && errno == EPIPE)) return code;
  if (!flushed || std::ferror(stdout) != 0) {
    return tilewright::report({tilewright::ErrorCode::Io, "standard output: could not be written"});
  }
  return code;
}
