"""The three functions on PyTorch's tensors, of the processor or of an NVIDIA GPU.

They have the signatures of those in `deltatape` and do the same, with the same errors, on tensors
that they neither copy nor move: tensors of the processor on the device cpu, tensors of a GPU on the
device cuda and in torch's current stream. Results are tensors beside the arguments, and tapes hold
tensors. Nothing is waited for on a GPU. k, slots, has_initial and cu_seqlens are read by the
processor at once: give them as integers, lists, numpy arrays or tensors of the processor, since one
of a GPU has to be waited for.
"""

from deltatape.torch._streams import stream
from deltatape.torch.chunk_tri_solve_invert import chunk_tri_solve_invert
from deltatape.torch.ssm_replay import ssm_replay
from deltatape.torch.ssm_step_record import ssm_step_record

__all__ = ["chunk_tri_solve_invert", "ssm_replay", "ssm_step_record", "stream"]
