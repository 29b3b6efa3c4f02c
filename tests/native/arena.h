// Memory for a call's arrays: each in a region of its own, ending at a page that nobody may touch.
#ifndef DTAPE_TESTS_ARENA_H
#define DTAPE_TESTS_ARENA_H

#include <cstddef>
#include <cstdint>
#include <vector>

class Arena {
 public:
  static constexpr size_t kRegionBytes = 16384;

  explicit Arena(size_t regions);
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  // Where an array of this many bytes begins so that it ends with the region.
  unsigned char *place(size_t region, size_t bytes) const;

  // Bytes from an address to the end of the region it is in, 0 outside all regions.
  size_t room(const void *address) const;

  unsigned char *begin(size_t region) const;

  // Everything in the regions, one after the other.
  using Contents = std::vector<unsigned char>;
  void copy_to(Contents &contents) const;
  void copy_region_to(Contents &contents, size_t region) const;
  void fill_from(const Contents &contents);
  bool holds(const Contents &contents) const;

 private:
  size_t regions_;
  unsigned char *base_;
};

#endif
