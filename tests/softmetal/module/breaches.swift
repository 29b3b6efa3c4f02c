// Breaks one rule of Metal's debug layer, named by the first argument; the module has to abort. Without
// an argument, prints the names.
import Metal

private let source = """
  #include <metal_stdlib>
  using namespace metal;
  [[max_total_threads_per_threadgroup(32)]]
  kernel void plus(device float* a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
    a[i] = a[i] + 1.0f;
  }
  """

private struct Bench {
  let device: any MTLDevice
  let queue: any MTLCommandQueue
  let commands: any MTLCommandBuffer
  let pipeline: any MTLComputePipelineState
  let buffer: any MTLBuffer

  init() throws {
    device = MTLCreateSystemDefaultDevice()!
    queue = device.makeCommandQueue()!
    commands = queue.makeCommandBuffer()!
    let options = MTLCompileOptions()
    options.languageVersion = .version3_1
    let library = try device.makeLibrary(source: source, options: options)
    pipeline = try device.makeComputePipelineState(function: library.makeFunction(name: "plus")!)
    buffer = device.makeBuffer(length: 128)!
  }

  func encoder() -> any MTLComputeCommandEncoder {
    let encoder = commands.makeComputeCommandEncoder()!
    encoder.setComputePipelineState(pipeline)
    encoder.setBuffer(buffer, offset: 0, index: 0)
    return encoder
  }

  func dispatch(_ groups: Int, _ threads: Int) {
    encoder().dispatchThreadgroups(
      MTLSize(width: groups, height: 1, depth: 1),
      threadsPerThreadgroup: MTLSize(width: threads, height: 1, depth: 1))
  }

  func complete() {
    let encoder = encoder()
    let one = MTLSize(width: 1, height: 1, depth: 1)
    encoder.dispatchThreadgroups(
      one, threadsPerThreadgroup: MTLSize(width: 32, height: 1, depth: 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
  }
}

private let breaches: [(name: String, breach: @Sendable (Bench) -> Void)] = [
  ("empty buffer", { _ = $0.device.makeBuffer(length: 0) }),
  (
    "unaligned pages",
    { _ = $0.device.makeBuffer(bytesNoCopy: $0.buffer.contents() + 64, length: 4096) }
  ),
  ("part of a page", { _ = $0.device.makeBuffer(bytesNoCopy: $0.buffer.contents(), length: 64) }),
  (
    "contents of private storage",
    { _ = $0.device.makeBuffer(length: 16, options: .storageModePrivate)?.contents() }
  ),
  ("4096 bytes", { $0.encoder().setBytes($0.buffer.contents(), length: 4096, index: 1) }),
  ("no bytes", { $0.encoder().setBytes($0.buffer.contents(), length: 0, index: 1) }),
  ("index 31", { $0.encoder().setBuffer($0.buffer, offset: 0, index: 31) }),
  ("offset past the end", { $0.encoder().setBuffer($0.buffer, offset: 128, index: 0) }),
  ("offset of nothing", { $0.encoder().setBufferOffset(16, index: 1) }),
  (
    "no pipeline",
    { bench in
      bench.commands.makeComputeCommandEncoder()!.dispatchThreadgroups(
        MTLSizeMake(1, 1, 1), threadsPerThreadgroup: MTLSizeMake(32, 1, 1))
    }
  ),
  ("too many threads", { $0.dispatch(1, 33) }),
  ("no threadgroups", { $0.dispatch(0, 32) }),
  ("no threads", { $0.dispatch(1, 0) }),
  ("too many threadgroups", { $0.dispatch(1 << 32, 32) }),
  ("two encoders", { _ = ($0.encoder(), $0.commands.makeComputeCommandEncoder()) }),
  ("encoder released", { $0.encoder().label = "lost" }),
  (
    "encoding after the end",
    { bench in
      let encoder = bench.encoder()
      encoder.endEncoding()
      encoder.setBuffer(bench.buffer, offset: 0, index: 0)
    }
  ),
  (
    "two ends",
    { bench in
      let encoder = bench.encoder()
      encoder.endEncoding()
      encoder.endEncoding()
    }
  ),
  (
    "commit while encoding",
    { bench in
      let encoder = bench.encoder()
      bench.commands.commit()
      encoder.endEncoding()
    }
  ),
  (
    "two commits",
    { bench in
      bench.complete()
      bench.commands.commit()
    }
  ),
  (
    "encoding after commit",
    { bench in
      bench.complete()
      _ = bench.commands.makeComputeCommandEncoder()
    }
  ),
  (
    "handler after commit",
    { bench in
      bench.complete()
      bench.commands.addCompletedHandler { _ in }
    }
  ),
  ("wait before commit", { $0.commands.waitUntilCompleted() }),
]

@main struct Main {
  static func main() throws {
    let bench = try Bench()
    guard CommandLine.arguments.count > 1 else {
      for (name, _) in breaches { print(name) }
      bench.complete()
      guard bench.commands.status == .completed else { fatalError("a right use failed") }
      return
    }
    breaches.first { $0.name == CommandLine.arguments[1] }?.breach(bench)
    print("not noticed")
  }
}
