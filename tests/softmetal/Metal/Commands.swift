// The queue and its command buffers: a command buffer records, commit hands it to the queue's thread.
import Dispatch

final class SoftQueue: NSObject, MTLCommandQueue, @unchecked Sendable {
  let soft: SoftDevice
  let thread = DispatchQueue(label: "softmetal")
  let places: DispatchSemaphore
  var label: String?
  var device: any MTLDevice { soft }

  init(_ device: SoftDevice, _ count: Int) {
    soft = device
    places = DispatchSemaphore(value: count)
  }

  /// Blocks while as many as the queue holds are uncompleted, as Apple's does; but not for ever.
  func makeCommandBuffer() -> (any MTLCommandBuffer)? {
    if injected(.commandBuffer) { return nil }
    rule(places.wait(timeout: .now() + 60) == .success, "makeCommandBuffer: the queue stays full")
    return SoftCommandBuffer(self)
  }
}

final class SoftCommandBuffer: NSObject, MTLCommandBuffer, @unchecked Sendable {
  let queue: SoftQueue
  let retainedReferences = true
  var label: String?
  var kernelStartTime = 0.0
  var kernelEndTime = 0.0
  var gpuStartTime = 0.0
  var gpuEndTime = 0.0
  /// A dispatch returns what was wrong with it.
  var steps: [() -> String?] = []
  var encoding = false

  private let lock = NSLock()
  private let scheduled = DispatchSemaphore(value: 0)
  private let completed = DispatchSemaphore(value: 0)
  private var state = MTLCommandBufferStatus.notEnqueued
  private var failure: MTLCommandBufferError?
  private var early: [MTLCommandBufferHandler] = []
  private var late: [MTLCommandBufferHandler] = []

  init(_ queue: SoftQueue) { self.queue = queue }
  deinit {
    rule(!encoding, "a command buffer was released while an encoder was open")
    if !committed { queue.places.signal() }
  }

  var device: any MTLDevice { queue.soft }
  var commandQueue: any MTLCommandQueue { queue }
  var status: MTLCommandBufferStatus { lock.withLock { state } }
  var error: (any Error)? { lock.withLock { failure } }
  var committed: Bool { status.rawValue >= MTLCommandBufferStatus.committed.rawValue }

  func makeComputeCommandEncoder() -> (any MTLComputeCommandEncoder)? {
    makeComputeCommandEncoder(dispatchType: .serial)
  }
  func makeComputeCommandEncoder(dispatchType: MTLDispatchType) -> (any MTLComputeCommandEncoder)? {
    rule(!committed, "makeComputeCommandEncoder: the command buffer is committed")
    rule(!encoding, "makeComputeCommandEncoder: an encoder is open already")
    if injected(.encoder) { return nil }
    encoding = true
    return SoftEncoder(self, dispatchType)
  }

  func addScheduledHandler(_ block: @escaping MTLCommandBufferHandler) {
    rule(!committed, "addScheduledHandler: the command buffer is committed")
    early.append(block)
  }
  func addCompletedHandler(_ block: @escaping MTLCommandBufferHandler) {
    rule(!committed, "addCompletedHandler: the command buffer is committed")
    late.append(block)
  }

  func enqueue() {
    rule(!committed, "enqueue: the command buffer is committed")
    lock.withLock { state = .enqueued }
  }
  func commit() {
    rule(!encoding, "commit: an encoder is open")
    rule(!committed, "commit: the command buffer is committed already")
    lock.withLock { state = .committed }
    queue.thread.async { [self] in execute() }
  }
  func waitUntilScheduled() {
    rule(committed, "waitUntilScheduled: the command buffer is not committed")
    scheduled.wait()
    scheduled.signal()
  }
  func waitUntilCompleted() {
    rule(committed, "waitUntilCompleted: the command buffer is not committed")
    completed.wait()
    completed.signal()
  }

  private func execute() {
    lock.withLock { state = .scheduled }
    for handler in early { handler(self) }
    scheduled.signal()
    gpuStartTime = uptime()
    kernelStartTime = gpuStartTime
    let outcome = run()
    if let late = value(of: .hang) { usleep(UInt32(late) * 1000) }
    gpuEndTime = uptime()
    kernelEndTime = gpuEndTime
    lock.withLock {
      failure = outcome
      state = outcome == nil ? .completed : .error
    }
    queue.places.signal()
    for handler in late { handler(self) }
    (early, late, steps) = ([], [], [])
    completed.signal()
  }

  private func run() -> MTLCommandBufferError? {
    if let code = value(of: .failure) {
      return MTLCommandBufferError(
        code: MTLCommandBufferError.Code(rawValue: UInt(code)) ?? .internal,
        sentence: "injected: failure \(code)")
    }
    for step in steps {
      if let sentence = step() {
        return MTLCommandBufferError(code: .invalidResource, sentence: sentence)
      }
    }
    return nil
  }
}
