"""A process in which eight threads, each with a stream of its own, call all kernels at once."""

import threading

import deltatape
from deltatape.verification.inputs import Shape, StepInputs, matrices, step_inputs

THREADS = 8
ROUNDS = 6


def results(device: deltatape.Device, inputs: StepInputs) -> list[bytes]:
    with device.stream() as stream:
        _, state, tape = deltatape.ssm_step_record(*inputs.args(), stream=stream)
        replayed = deltatape.ssm_replay(inputs.state, tape, 3, stream=stream)
        inverse = deltatape.chunk_tri_solve_invert(matrices((1, 40, 2, 32), 1), stream=stream)
    return [array.tobytes() for array in (state, replayed, inverse)]


def main() -> None:
    layers = [step_inputs(Shape(1, 5, 2, 1, 8, 20 + n % 3), n) for n in range(THREADS)]
    with deltatape.Device("cpu") as cpu:
        expected = [results(cpu, each) for each in layers]
    right = []

    def work(n: int) -> None:
        with deltatape.Device("metal") as metal:
            right.extend(results(metal, layers[n]) == expected[n] for _ in range(ROUNDS))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{sum(right)} of {THREADS * ROUNDS} rounds right")


if __name__ == "__main__":
    main()
