// What a host hands to a kernel besides arrays. C and C++ read this text too, given uint and ulong.

// Besides these, steps and replays take a table of three numbers a sequence: its state (-1 =
// zeros), its state_out (-1 = not written), and its k (-1 = leave it alone; a step reads nothing
// else).
//
// Steps or tape entries begin ... end - 1 of sequences first, first + 1, ...
struct ssm_params {
  ulong state_stride;  // elements from one state to the next
  ulong state_out_stride;
  uint first;
  uint begin;
  uint end;
  uint steps;  // T, of the arrays
  uint heads;
  uint groups;
  uint rows;     // Dh
  uint sharing;  // heads of a group
};

// Chunks first, first + 1, ... of each sequence.
struct chunk_tri_solve_invert_params {
  uint first;
  uint steps;
  uint heads;
  uint reserved;
};
