#include "tilewright/workload/onnx_wire.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace tilewright::onnx_file {
namespace {

constexpr int kMostMessageDepth = 80;                         // messages in messages
constexpr std::size_t kMostStructure = std::size_t{1} << 29;  // bytes of the parsed model

enum class Message : std::uint8_t {
  Model,
  Graph,
  Node,
  Attribute,
  Tensor,
  SparseTensor,
  ValueInfo,
  Type,
  TensorType,
  Shape,
  Dimension,
  Opset,
  Function,
  Entry,
  None,     // the field is a number or a text, not a message
  Numbers,  // many numbers
  Content,  // the same, and large ones are left out
};

struct Field {
  Message message;
  std::uint32_t number;
  Message inside = Message::None;
};

// The fields the reader uses, by onnx.proto's numbers; all others are left behind, among them documentation, training
// graphs and quantisation notes.
constexpr std::array kFields{
    Field{Message::Model, 1},
    Field{Message::Model, 7, Message::Graph},
    Field{Message::Model, 8, Message::Opset},
    Field{Message::Model, 25, Message::Function},
    Field{Message::Opset, 1},
    Field{Message::Opset, 2},
    Field{Message::Graph, 1, Message::Node},
    Field{Message::Graph, 2},
    Field{Message::Graph, 5, Message::Tensor},
    Field{Message::Graph, 11, Message::ValueInfo},
    Field{Message::Graph, 12, Message::ValueInfo},
    Field{Message::Graph, 13, Message::ValueInfo},
    Field{Message::Graph, 15, Message::SparseTensor},
    Field{Message::Node, 1},
    Field{Message::Node, 2},
    Field{Message::Node, 3},
    Field{Message::Node, 4},
    Field{Message::Node, 5, Message::Attribute},
    Field{Message::Node, 7},
    Field{Message::Attribute, 1},
    Field{Message::Attribute, 2},
    Field{Message::Attribute, 3},
    Field{Message::Attribute, 4},
    Field{Message::Attribute, 5, Message::Tensor},
    Field{Message::Attribute, 6, Message::Graph},
    Field{Message::Attribute, 7, Message::Numbers},
    Field{Message::Attribute, 8, Message::Numbers},
    Field{Message::Attribute, 11, Message::Graph},
    Field{Message::Attribute, 20},
    Field{Message::Attribute, 21},
    Field{Message::Attribute, 22, Message::SparseTensor},
    Field{Message::Tensor, 1, Message::Numbers},
    Field{Message::Tensor, 2},
    Field{Message::Tensor, 4, Message::Content},
    Field{Message::Tensor, 5, Message::Content},
    Field{Message::Tensor, 7, Message::Content},
    Field{Message::Tensor, 8},
    Field{Message::Tensor, 9, Message::Content},
    Field{Message::Tensor, 10, Message::Content},
    Field{Message::Tensor, 11, Message::Content},
    Field{Message::Tensor, 13, Message::Entry},
    Field{Message::Tensor, 14},
    Field{Message::Entry, 1},
    Field{Message::Entry, 2},
    Field{Message::SparseTensor, 1, Message::Tensor},
    Field{Message::SparseTensor, 3, Message::Numbers},
    Field{Message::ValueInfo, 1},
    Field{Message::ValueInfo, 2, Message::Type},
    Field{Message::Type, 1, Message::TensorType},
    Field{Message::TensorType, 1},
    Field{Message::TensorType, 2, Message::Shape},
    Field{Message::Shape, 1, Message::Dimension},
    Field{Message::Dimension, 1},
    Field{Message::Dimension, 2},
    Field{Message::Function, 1},
    Field{Message::Function, 4},
    Field{Message::Function, 5},
    Field{Message::Function, 6},
    Field{Message::Function, 7, Message::Node},
    Field{Message::Function, 10},
    Field{Message::Function, 11, Message::Attribute},
};

constexpr std::size_t kNumberBytes = 8;  // of a number once it is parsed; in the file it may be a single byte

// About what a message takes once it is parsed, however short it is in the file.
std::size_t parsed_bytes(Message message) {
  switch (message) {
    case Message::Attribute:
    case Message::Tensor:
    case Message::Graph:
    case Message::Function:
      return 320;
    case Message::Node:
    case Message::SparseTensor:
      return 200;
    default:
      return 80;
  }
}

const Field* find_field(Message message, std::uint64_t number) {
  for (const Field& field : kFields) {
    if (field.message == message && field.number == number) return &field;
  }
  return nullptr;
}

class Copier {
 public:
  explicit Copier(std::string_view bytes) : bytes_(bytes) {}

  bool copy() { return copy_message(bytes_.size(), Message::Model, 0); }
  std::string& out() { return out_; }
  const std::string& problem() const { return problem_; }

 private:
  bool fail(const std::string& what) {
    problem_ = what + " at byte " + std::to_string(at_);
    return false;
  }

  std::optional<std::uint64_t> varint(std::size_t end) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ < end; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  bool copy_message(std::size_t end, Message message, int depth) {
    if (depth > kMostMessageDepth) return fail("its messages nest deeper than " + std::to_string(kMostMessageDepth));
    while (at_ < end) {
      const std::size_t start = at_;
      const auto tag = varint(end);
      if (!tag || *tag >> 3 == 0) return fail("there is no field");
      const Field* field = find_field(message, *tag >> 3);
      const bool copied = (*tag & 7) == 2 ? copy_block(start, end, field, depth) : copy_number(start, end, *tag & 7, field);
      if (!copied) return false;
      if (parsed_ > kMostStructure) return fail("it takes more than half a gigabyte even without its weights");
    }
    return true;
  }

  bool copy_number(std::size_t start, std::size_t end, std::uint64_t kind, const Field* field) {
    if (kind == 0) {
      if (!varint(end)) return fail("a number does not end");
    } else if (kind == 1 || kind == 5) {
      const std::size_t width = kind == 1 ? 8 : 4;
      if (end - at_ < width) return fail("it ends inside a number");
      at_ += width;
    } else {
      return fail("there is no field");
    }
    if (field == nullptr || field->inside < Message::None) return true;
    out_.append(bytes_, start, at_ - start);
    parsed_ += kNumberBytes;
    return true;
  }

  bool copy_block(std::size_t start, std::size_t end, const Field* field, int depth) {
    const std::size_t tag_end = at_;
    const auto length = varint(end);
    if (!length || *length > end - at_) return fail("it ends too early: there is less left than a part says it has");
    const std::size_t block_end = at_ + static_cast<std::size_t>(*length);
    const bool wanted = field != nullptr && !(field->inside == Message::Content && *length > kMostContent);
    if (!wanted) {
      at_ = block_end;
      return true;
    }
    parsed_ += parsed_bytes(field->inside);
    if (field->inside >= Message::None) {
      parsed_ += (block_end - at_) * (field->inside == Message::Numbers ? kNumberBytes : 1);
      out_.append(bytes_, start, block_end - start);
      at_ = block_end;
      return true;
    }
    // The new length is known only afterwards, so it gets five bytes, as many as the longest that parsers accept.
    out_.append(bytes_, start, tag_end - start);
    const std::size_t length_at = out_.size();
    out_.append(5, '\0');
    if (!copy_message(block_end, field->inside, depth + 1)) return false;
    const std::size_t copied = out_.size() - length_at - 5;
    for (unsigned i = 0; i < 5; ++i) {
      out_[length_at + i] = static_cast<char>((copied >> (7 * i) & 0x7F) | (i < 4 ? 0x80u : 0u));
    }
    return true;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::string out_;
  std::string problem_;
  std::size_t parsed_ = 0;  // bytes
};

}  // namespace

Result<std::string> without_weights(std::string_view bytes) {
  if (bytes.empty()) return invalid("it is empty");
  Copier copier(bytes);
  if (!copier.copy()) return invalid(copier.problem());
  return std::move(copier.out());
}

}  // namespace tilewright::onnx_file
