#include "cuda/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace deltatape::cuda {
namespace {

constexpr char kMagic[8] = {'d', 't', 'a', 'p', 'e', '0', '0', '1'};
constexpr uint64_t kMost = uint64_t{64} << 20;

// What a file begins with; key, entry and code follow. `hash` is of these three.
struct Header {
  char magic[8];
  uint64_t key;
  uint64_t entry;
  uint64_t code;
  uint64_t hash;
};

uint64_t hash(const std::string &text) {
  uint64_t value = 0xcbf29ce484222325u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return value;
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

  // Whether it is the user's, and nobody else may change it.
  bool is_own(mode_t kind, mode_t forbidden) const {
    struct stat facts;
    return is_open() && fstat(descriptor_, &facts) == 0 && (facts.st_mode & S_IFMT) == kind &&
           facts.st_uid == geteuid() && (facts.st_mode & forbidden) == 0;
  }

  bool read_all(void *to, size_t bytes) const {
    for (size_t done = 0; done < bytes;) {
      const ssize_t got = read(descriptor_, static_cast<char *>(to) + done, bytes - done);
      if (got <= 0) return false;
      done += static_cast<size_t>(got);
    }
    return true;
  }

  bool write_all(const std::string &text) const {
    for (size_t done = 0; done < text.size();) {
      const ssize_t put = write(descriptor_, text.data() + done, text.size() - done);
      if (put <= 0) return false;
      done += static_cast<size_t>(put);
    }
    return true;
  }

 private:
  int descriptor_;
};

std::string environment(const char *name) {
  const char *const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Empty where there is none.
std::string folder() {
  const std::string chosen = environment("DELTATAPE_CACHE");
  if (chosen == "off") return "";
  if (!chosen.empty()) return chosen;
  const std::string caches = environment("XDG_CACHE_HOME"), home = environment("HOME");
  if (!caches.empty() && caches[0] == '/') return caches + "/deltatape";
  return home.empty() || home[0] != '/' ? "" : home + "/.cache/deltatape";
}

void make_folders(const std::string &path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    mkdir(path.substr(0, at).c_str(), 0700);
  }
  mkdir(path.c_str(), 0700);
}

int open_folder(bool make) {
  const std::string path = folder();
  if (path.empty()) return -1;
  if (make) make_folders(path);
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool is_safe(const File &opened) {
  return opened.is_own(S_IFDIR, 077);
}

std::string file_name(const std::string &key) {
  return digest(key) + ".kernel";
}

// The rest of a file, if it is what the header says.
std::optional<Image> read_image(const File &file, const std::string &key) {
  Header header;
  if (!file.read_all(&header, sizeof header)) return std::nullopt;
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key != key.size() ||
      header.entry > kMost || header.code > kMost) {
    return std::nullopt;
  }
  std::string rest(header.key + header.entry + header.code, '\0');
  if (!file.read_all(rest.data(), rest.size()) || hash(rest) != header.hash) return std::nullopt;
  if (rest.compare(0, key.size(), key) != 0) return std::nullopt;
  return Image{rest.substr(header.key + header.entry), rest.substr(header.key, header.entry)};
}

}  // namespace

std::string digest(const std::string &text) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, hash(text));
  return digits;
}

std::optional<Image> recall(const std::string &key) {
  const File opened(open_folder(false));
  if (!is_safe(opened)) return std::nullopt;
  const File file(openat(opened.get(), file_name(key).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  return file.is_own(S_IFREG, 022) ? read_image(file, key) : std::nullopt;
}

void keep(const std::string &key, const Image &image) {
  const File opened(open_folder(true));
  if (!is_safe(opened)) return;
  const std::string rest = key + image.entry + image.code;
  Header header = {{}, key.size(), image.entry.size(), image.code.size(), hash(rest)};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  const std::string name = file_name(key);
  // Whole or not at all: written beside, then renamed.
  const std::string beside = name + "." + std::to_string(getpid());
  unlinkat(opened.get(), beside.c_str(), 0);
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const File file(openat(opened.get(), beside.c_str(), flags, 0600));
  if (!file.is_open()) return;
  const std::string start(reinterpret_cast<const char *>(&header), sizeof header);
  const bool written = file.write_all(start + rest);
  if (!written || renameat(opened.get(), beside.c_str(), opened.get(), name.c_str()) != 0) {
    unlinkat(opened.get(), beside.c_str(), 0);
  }
}

}  // namespace deltatape::cuda
