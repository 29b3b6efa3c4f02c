// The compute command encoder: bindings and dispatches.
import SoftMetal

/// A buffer and an offset, or bytes of its own; neither where nothing is bound.
struct Binding {
  var buffer: SoftBuffer?
  var bytes: [UInt8] = []
  var offset = 0
}

final class SoftEncoder: NSObject, MTLComputeCommandEncoder {
  let owner: SoftCommandBuffer
  let dispatchType: MTLDispatchType
  var label: String?
  var device: any MTLDevice { owner.device }
  private var open = true
  private var pipeline: SoftPipeline?
  private var bindings = [Binding](repeating: Binding(), count: Int(SOFTMETAL_BINDINGS))

  init(_ owner: SoftCommandBuffer, _ dispatchType: MTLDispatchType) {
    self.owner = owner
    self.dispatchType = dispatchType
  }
  deinit { rule(!open, "an encoder was released without endEncoding") }

  func endEncoding() {
    rule(open, "endEncoding: the encoder has ended already")
    open = false
    owner.encoding = false
  }

  func setComputePipelineState(_ state: any MTLComputePipelineState) {
    rule(open, "setComputePipelineState: the encoder has ended")
    pipeline = (state as! SoftPipeline)
  }

  func setBytes(_ bytes: UnsafeRawPointer, length: Int, index: Int) {
    rule(length > 0 && length < 4096, "setBytes: \(length) bytes, expected 1 to 4095")
    bind(Binding(bytes: [UInt8](UnsafeRawBufferPointer(start: bytes, count: length))), index)
  }

  func setBuffer(_ buffer: (any MTLBuffer)?, offset: Int, index: Int) {
    let length = buffer?.length ?? Int.max
    rule(offset >= 0 && offset < length, "setBuffer: offset \(offset) of a buffer of \(length)")
    bind(Binding(buffer: buffer.map { $0 as! SoftBuffer }, offset: offset), index)
  }

  func setBufferOffset(_ offset: Int, index: Int) {
    rule(bindings.indices.contains(index), "setBufferOffset: index \(index), expected 0 to 30")
    rule(bindings[index].buffer != nil, "setBufferOffset: no buffer is bound at index \(index)")
    setBuffer(bindings[index].buffer, offset: offset, index: index)
  }

  private func bind(_ binding: Binding, _ index: Int) {
    rule(open, "a binding: the encoder has ended")
    rule(bindings.indices.contains(index), "a binding: index \(index), expected 0 to 30")
    if value(of: .unbind) != index { bindings[index] = binding }
  }

  func dispatchThreadgroups(_ threadgroupsPerGrid: MTLSize, threadsPerThreadgroup: MTLSize) {
    rule(open, "dispatchThreadgroups: the encoder has ended")
    guard let pipeline else { fatalError("softmetal: dispatchThreadgroups: no pipeline is set") }
    let (groups, threads) = (dimensions(threadgroupsPerGrid), dimensions(threadsPerThreadgroup))
    rule(
      threads.reduce(1, *) <= pipeline.maxTotalThreadsPerThreadgroup,
      "dispatchThreadgroups: \(threads) threads, the pipeline allows "
        + "\(pipeline.maxTotalThreadsPerThreadgroup)")
    let bindings = bindings
    owner.steps.append { run(pipeline.function, groups, threads, bindings) }
  }

  private func dimensions(_ size: MTLSize) -> [UInt32] {
    [size.width, size.height, size.depth].map {
      rule($0 > 0 && $0 <= UInt32.max, "dispatchThreadgroups: a dimension of \($0)")
      return UInt32($0)
    }
  }

  /// Dispatches run one after another, so there is nothing to wait for.
  func memoryBarrier(scope: MTLBarrierScope) {}
  func memoryBarrier(resources: [any MTLResource]) {}
  func insertDebugSignpost(_ string: String) {}
  func pushDebugGroup(_ string: String) {}
  func popDebugGroup() {}
}

/// Runs one dispatch and returns what was wrong.
private func run(
  _ function: SoftFunction, _ groups: [UInt32], _ threads: [UInt32], _ bindings: [Binding]
) -> String? {
  var owned: [UnsafeMutableRawPointer] = []
  defer { for copy in owned { free(copy) } }
  let places = bindings.map { binding in
    if let buffer = binding.buffer {
      return softmetal_binding(
        data: buffer.base + binding.offset, bytes: buffer.length - binding.offset)
    }
    guard !binding.bytes.isEmpty else { return softmetal_binding() }
    let copy = malloc(binding.bytes.count)!
    owned.append(copy)
    binding.bytes.withUnsafeBytes {
      copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count)
    }
    return softmetal_binding(data: copy, bytes: binding.bytes.count)
  }
  let message = softmetal_run(function.handle, groups, threads, places)
  return message == nil ? nil : taking(message)
}
