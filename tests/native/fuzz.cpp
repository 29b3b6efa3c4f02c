// Random argument structs over guarded memory: fuzz [DEVICE [COUNT [SEED]]].
//
// Valid calls must be accepted. Broken ones may be refused or, where they are still valid,
// accepted. A refused call changes no byte, an accepted one only bytes of its outputs. What would
// only touch memory that is not there is left out: a call's caller answers for that.
#include <cstdio>
#include <cstdlib>

#include "random_calls.h"
#include "session.h"

namespace {

struct Tally {
  int64_t accepted = 0;
  int64_t refused = 0;
  int64_t left_out = 0;
};

template <class Args>
class Fuzzer {
 public:
  explicit Fuzzer(dtape_stream *stream) : stream_(stream), arena_(fields().size()) {
    Random random(1);
    arena_.copy_to(before_);
    for (unsigned char &byte : before_) byte = static_cast<unsigned char>(random.next());
    arena_.fill_from(before_);
  }

  // One call. What is wrong with it, or nullptr.
  const char *call(Random &random, Tally &tally) {
    Args args = {};
    choose(random, args);
    const int breaks = random.chance(40) ? 0 : static_cast<int>(1 + random.below(3));
    if (breaks != 0 && random.chance(40)) break_size(random, args);
    give_memory(args);
    if (sensible(args)) finish(random, args);
    for (int i = 0; i < breaks; ++i) break_field(random, args);
    keep_host_arrays();

    const Args seen = as_seen(args);
    const bool impossible = counts_too_much(seen);
    if (!impossible && !fits(seen)) return ++tally.left_out, nullptr;
    dtape_status status = Kernel<Args>::run(stream_, &args);
    if (status == DTAPE_OK) status = dtape_stream_wait(stream_);
    if (status != DTAPE_OK) return ++tally.refused, judge_refusal(status, breaks != 0);
    return ++tally.accepted, impossible ? "accepted more than can be counted" : judge_writes(seen);
  }

 private:
  static const std::vector<Field> &fields() { return Kernel<Args>::fields; }

  // The struct's 64-bit words between its size and its arrays.
  static constexpr int64_t kSizes = 7;

  static void break_size(Random &random, Args &args) {
    const int64_t word = random.below(kSizes + 1);
    auto *const at = reinterpret_cast<char *>(&args) + 8 * word;
    int64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    value = random.pick<int64_t>({value + 1, value - 1, -1, 0, 1, 2, 7, 16, int64_t{1} << 31,
                                  int64_t{1} << 32, int64_t{1} << 62, INT64_MAX, INT64_MIN});
    std::memcpy(at, &value, sizeof value);
  }

  void give_memory(Args &args) {
    for (size_t i = 0; i < fields().size(); ++i) {
      if (pointer(args, fields()[i]) == nullptr) continue;
      const Wide bytes = extent_of(args, fields()[i]).bytes;
      const bool fits = bytes >= 0 && bytes <= static_cast<Wide>(Arena::kRegionBytes);
      set_pointer(args, fields()[i], arena_.place(i, fits ? static_cast<size_t>(bytes) : 0));
    }
  }

  // Nothing else has changed since the last call.
  void keep_host_arrays() {
    for (size_t i = 0; i < fields().size(); ++i) {
      if (fields()[i].kind == Field::kHost) arena_.copy_region_to(before_, i);
    }
  }

  void break_field(Random &random, Args &args) {
    const Field &field = fields()[random.below(static_cast<int64_t>(fields().size()))];
    const Field &other = fields()[random.below(static_cast<int64_t>(fields().size()))];
    const auto data = reinterpret_cast<intptr_t>(pointer(args, field));
    const auto elsewhere = reinterpret_cast<intptr_t>(pointer(args, other));
    const auto point_to = [&](intptr_t address) {
      set_pointer(args, field, reinterpret_cast<void *>(address));
    };
    switch (random.below(field.kind == Field::kHost ? 6 : 8)) {
      case 0:
        return point_to(0);
      case 1:
        return point_to(data + random.below(9) - 4);
      case 2:
        return point_to(elsewhere);
      case 3:
        return point_to(elsewhere - 8 * random.below(9));
      case 4:
        return break_words(random, args);
      case 5:
        return break_host_array(random, args, field);
      case 6:
        dtype(args, field) = random.pick<int32_t>({-1, 0, 1, 2, 3, 4, 5, 6, 1 << 30});
        return;
      default:
        (&dtype(args, field))[1] = static_cast<int32_t>(random.below(2));
        return;
    }
  }

  static void break_words(Random &random, Args &args) {
    if (random.chance(50)) {
      args.size = random.pick<uint64_t>({0, 7, 8, 64, 8 * (random.next() % (sizeof args / 8)),
                                         sizeof args - 1, sizeof args + 8, UINT64_MAX});
      return;
    }
    const int64_t word = random.below(sizeof args / 4 - 2) + 2;
    const auto value = static_cast<int32_t>(random.pick<uint64_t>({0, 1, 2, 5, random.next()}));
    std::memcpy(reinterpret_cast<char *>(&args) + 4 * word, &value, sizeof value);
  }

  void break_host_array(Random &random, Args &args, const Field &field) {
    const auto bytes = static_cast<int64_t>(arena_.room(pointer(args, field)));
    const bool own = pointer(args, field) == arena_.place(&field - fields().data(), bytes);
    if (field.kind != Field::kHost || !own || bytes < 4 || bytes > 64) return;
    const auto value = static_cast<int32_t>(random.pick<int64_t>({-2, -1, 0, 1, 3, 9, INT32_MAX}));
    auto *const data = static_cast<char *>(pointer(args, field));
    std::memcpy(data + 4 * random.below(bytes / 4), &value, sizeof value);
  }

  // What an older caller's struct says.
  static Args as_seen(const Args &args) {
    Args seen = {};
    std::memcpy(&seen, &args, args.size < sizeof args ? args.size : sizeof args);
    return seen;
  }

  bool sensible(const Args &args) const { return !counts_too_much(args) && fits(args); }

  static bool counts_too_much(const Args &args) {
    for (const Field &field : fields()) {
      if (pointer(args, field) == nullptr) continue;
      if (extent_of(args, field).bytes > INT64_MAX) return true;
    }
    return false;
  }

  bool fits(const Args &args) const {
    for (const Field &field : fields()) {
      const void *const data = pointer(args, field);
      if (data == nullptr) continue;
      if (extent_of(args, field).bytes > static_cast<Wide>(arena_.room(data))) return false;
    }
    return true;
  }

  const char *judge_refusal(dtape_status status, bool broken) {
    if (!broken) return "refused a valid call";
    if (status != DTAPE_INVALID_ARGUMENT && status != DTAPE_UNSUPPORTED_DTYPE) return "status";
    const char *const sentence = dtape_last_error();
    const size_t length = strlen(Kernel<Args>::name);
    if (strncmp(sentence + 1, Kernel<Args>::name, length) != 0) return "operation in the sentence";
    if (strstr(sentence, ": expected ") == nullptr || strstr(sentence, " got ") == nullptr) {
      return "form of the sentence";
    }
    return arena_.holds(before_) ? nullptr : "bytes changed by a refused call";
  }

  // Puts the outputs back; then everything must be as before.
  const char *judge_writes(const Args &args) {
    for (const Field &field : fields()) {
      if (field.kind != Field::kOutput || pointer(args, field) == nullptr) continue;
      const Extent extent = extent_of(args, field);
      if (extent.bytes == 0) continue;
      for (Wide at = 0; at < extent.bytes; at += extent.stride) {
        put_back(static_cast<unsigned char *>(pointer(args, field)) + static_cast<int64_t>(at),
                 static_cast<size_t>(extent.row));
      }
    }
    return arena_.holds(before_) ? nullptr : "bytes changed outside the outputs";
  }

  void put_back(unsigned char *data, size_t bytes) {
    for (size_t region = 0; region < fields().size(); ++region) {
      const auto offset = static_cast<size_t>(data - arena_.begin(region));
      if (offset >= Arena::kRegionBytes) continue;
      std::memcpy(data, before_.data() + region * Arena::kRegionBytes + offset, bytes);
    }
  }

  dtape_stream *stream_;
  Arena arena_;
  Arena::Contents before_;
};

}  // namespace

int main(int count, char **words) {
  const Session session(device_name(count, words));
  const int64_t calls = count > 2 ? std::atoll(words[2]) : 1000000;
  const uint64_t seed = count > 3 ? std::strtoull(words[3], nullptr, 10) : 1;
  Fuzzer<dtape_ssm_step_record_args> record(session.stream);
  Fuzzer<dtape_ssm_replay_args> replay(session.stream);
  Fuzzer<dtape_chunk_tri_solve_invert_args> invert(session.stream);

  Tally tally;
  for (int64_t i = 0; i < calls && failed_checks < 10; ++i) {
    Random random(seed + i);
    const char *wrong = nullptr;
    switch (i % 3) {
      case 0:
        wrong = record.call(random, tally);
        break;
      case 1:
        wrong = replay.call(random, tally);
        break;
      default:
        wrong = invert.call(random, tally);
        break;
    }
    if (wrong == nullptr) continue;
    std::fprintf(stderr, "seed %lld: ", static_cast<long long>(seed + i));
    fail_check("fuzz", static_cast<int>(i % 3), wrong, dtape_last_error());
  }
  std::printf("%lld accepted, %lld refused, %lld left out\n",
              static_cast<long long>(tally.accepted), static_cast<long long>(tally.refused),
              static_cast<long long>(tally.left_out));
  return failed_checks != 0;
}
