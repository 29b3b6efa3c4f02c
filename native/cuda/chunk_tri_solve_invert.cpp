// The inverse of each chunk: a request, its addresses and its launches.
#include "cuda/chunk_tri_solve_invert.h"

#include <climits>

#include "cuda/launch.h"
#include "cuda/types.h"

namespace deltatape::cuda {
namespace {

using uint = uint32_t;
using ulong = uint64_t;
#include "../../shaders/parameters.metal"

constexpr int kThreads = 32;
// Of the shader's threads, 16 solve a chunk.
constexpr int64_t kHeadsOfGroup = kThreads / 16;
// The shader counts the elements of a chunk's rows in 32 bits.
constexpr int64_t kMostHeads = UINT32_MAX / (64 * 64);

struct Inverse {
  const dtape_chunk_tri_solve_invert_request &r;
  // The first row and the number of rows of each chunk, where they restart at each sequence.
  std::vector<int32_t> ragged;

  explicit Inverse(const dtape_chunk_tri_solve_invert_request &request) : r(request) {
    for (int64_t sequence = 1; r.cu_seqlens != nullptr && sequence < r.cu_seqlens_count;
         ++sequence) {
      const int64_t end = r.cu_seqlens[sequence];
      for (int64_t start = r.cu_seqlens[sequence - 1]; start < end; start += r.chunk) {
        ragged.push_back(static_cast<int32_t>(start));
        ragged.push_back(static_cast<int32_t>(std::min(r.chunk, end - start)));
      }
    }
  }

  int64_t chunks() const {
    return ragged.empty() ? (r.steps + r.chunk - 1) / r.chunk
                          : static_cast<int64_t>(ragged.size()) / 2;
  }

  Variant variant(Address a, Address a_inv) const {
    const size_t table = std::min(ragged.size(), kMostInTable);
    Variant variant("chunk_tri_solve_invert", kThreads, 0, table_room(table));
    variant.set("BT", static_cast<int>(r.chunk));
    variant.set("CHUNKS", !ragged.empty());
    variant.set("ALIGNED", is_aligned(a, r.a.dtype) && is_aligned(a_inv, r.a_inv.dtype));
    variant.set("A_TYPE", type_name(r.a.dtype));
    variant.set("A_INV_TYPE", type_name(r.a_inv.dtype));
    return variant;
  }

  // Chunks first ... first + count - 1 of some sequences, whose arrays begin at the addresses.
  Launch launch(const Variant &variant, Address a, Address a_inv, int64_t first, int64_t count,
                int64_t sequences) const {
    Launch made = {variant,
                   static_cast<unsigned>((r.heads + kHeadsOfGroup - 1) / kHeadsOfGroup),
                   static_cast<unsigned>(count),
                   static_cast<unsigned>(sequences),
                   {}};
    made.arguments.put(a);
    made.arguments.put(a_inv);
    made.arguments.put(chunk_tri_solve_invert_params{
        static_cast<uint>(first), static_cast<uint>(r.steps), static_cast<uint>(r.heads), 0});
    std::vector<int32_t> table;
    if (!ragged.empty()) {
      table.assign(ragged.begin() + first * 2, ragged.begin() + (first + count) * 2);
    }
    made.arguments.put_table(table, variant.table());
    return made;
  }

  void run(Stream &stream, Arguments &arguments) const {
    const Address a = arguments.read(r.a, "a"), a_inv = arguments.write(r.a_inv, "a_inv");
    const Variant variant = this->variant(a, a_inv);
    const int64_t width =
        ragged.empty() ? Launch::kMostGroups : static_cast<int64_t>(kMostInTable / 2);
    const uint64_t sequence = static_cast<uint64_t>(r.steps * r.heads * r.chunk);
    for (int64_t b = 0; b < r.batch; b += Launch::kMostGroups) {
      const uint64_t skipped = static_cast<uint64_t>(b) * sequence;
      const Address from = a + skipped * static_cast<uint64_t>(element_bytes(r.a.dtype));
      const Address to = a_inv + skipped * static_cast<uint64_t>(element_bytes(r.a_inv.dtype));
      for (int64_t first = 0; first < chunks(); first += width) {
        stream.launch(launch(variant, from, to, first, std::min(width, chunks() - first),
                             std::min(r.batch - b, Launch::kMostGroups)),
                      arguments);
      }
    }
  }
};

void require_countable(const char *name, int64_t value, int64_t most) {
  if (value <= most) return;
  throw Failure(DTAPE_NOT_OFFERED, std::string(name) + ": expected at most " +
                                       std::to_string(most) + " on cuda, got " +
                                       std::to_string(value));
}

}  // namespace

void chunk_tri_solve_invert(Stream &stream, const dtape_chunk_tri_solve_invert_request &request) {
  const auto &r = request;
  require_countable("batch", r.batch, INT32_MAX);
  require_countable("steps", r.steps, INT32_MAX);
  require_countable("heads", r.heads, kMostHeads);
  if (r.batch == 0 || r.steps == 0 || r.heads == 0) return;
  const Inverse inverse(request);
  stream.call({r.a, r.a_inv}, [&](Arguments &arguments) { inverse.run(stream, arguments); });
}

}  // namespace deltatape::cuda
