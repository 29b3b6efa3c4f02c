// An app's own Metal: device, queue, buffers and a kernel.
import Metal

struct App {
  let device: any MTLDevice
  let queue: any MTLCommandQueue
  private let multiply: any MTLComputePipelineState

  private static let source = """
    #include <metal_stdlib>
    using namespace metal;
    kernel void multiply(device float* values [[buffer(0)]], constant float& factor [[buffer(1)]],
                         uint3 i [[threadgroup_position_in_grid]]) { values[i.x] *= factor; }
    """

  init() throws {
    guard let device = MTLCreateSystemDefaultDevice(), let queue = device.makeCommandQueue() else {
      throw Failure("no Metal")
    }
    let options = MTLCompileOptions()
    options.languageVersion = .version3_1
    let library = try device.makeLibrary(source: App.source, options: options)
    guard let function = library.makeFunction(name: "multiply") else { throw Failure("no kernel") }
    self.device = device
    self.queue = queue
    multiply = try device.makeComputePipelineState(function: function)
  }

  func buffer(_ values: [Float]) throws -> any MTLBuffer {
    let bytes = values.count * MemoryLayout<Float>.size
    guard let buffer = device.makeBuffer(bytes: values, length: bytes, options: .storageModeShared)
    else { throw Failure("no buffer") }
    return buffer
  }

  /// Encodes the app's own kernel.
  func multiply(
    _ buffer: any MTLBuffer, by factor: Float, _ encoder: any MTLComputeCommandEncoder
  ) {
    var factor = factor
    encoder.setComputePipelineState(multiply)
    encoder.setBuffer(buffer, offset: 0, index: 0)
    encoder.setBytes(&factor, length: MemoryLayout<Float>.size, index: 1)
    let count = buffer.length / MemoryLayout<Float>.size
    encoder.dispatchThreadgroups(
      MTLSize(width: count, height: 1, depth: 1),
      threadsPerThreadgroup: MTLSize(width: 1, height: 1, depth: 1))
  }

  /// One command buffer with one encoder, run to its end.
  func run(
    _ type: MTLDispatchType, _ encode: (any MTLComputeCommandEncoder) throws -> Void
  ) throws {
    guard let commands = queue.makeCommandBuffer(),
      let encoder = commands.makeComputeCommandEncoder(dispatchType: type)
    else { throw Failure("no command buffer") }
    do {
      defer { encoder.endEncoding() }
      try encode(encoder)
    }
    commands.commit()
    commands.waitUntilCompleted()
    if commands.status != .completed {
      throw Failure(commands.error?.localizedDescription ?? "the command buffer failed")
    }
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

func contents(_ buffer: any MTLBuffer) -> [Float] {
  let count = buffer.length / MemoryLayout<Float>.size
  let start = buffer.contents().assumingMemoryBound(to: Float.self)
  return [Float](UnsafeBufferPointer(start: start, count: count))
}
