// Memory that the GPU works on: the library's own, adopted buffers, and scratch.
import DeltatapeMetalHost
import Metal

/// A Metal buffer and where the processor sees it.
final class Allocation: @unchecked Sendable {
  let buffer: any MTLBuffer
  let start: UInt
  let adopted: Bool
  /// Guarded by Memory: calls in progress that use it; whether it goes back when there are none.
  fileprivate var uses = 0
  fileprivate var freed = false

  fileprivate init(_ buffer: any MTLBuffer, adopted: Bool) {
    self.buffer = buffer
    self.adopted = adopted
    start = UInt(bitPattern: buffer.contents())
  }

  var end: UInt { start &+ UInt(buffer.length) }
}

/// A buffer and an offset into it, as an encoder takes them.
struct Binding {
  let buffer: any MTLBuffer
  let offset: Int
}

final class Memory: @unchecked Sendable {
  /// Stands for absent and empty arrays, which no kernel reads.
  let nothing: Binding
  private let gpu: any MTLDevice
  private let page = Int(sysconf(Int32(_SC_PAGESIZE)))
  private let lock = NSLock()
  private var live: [Allocation] = []
  private var idle: [Int: [Allocation]] = [:]
  private var idleBytes = 0
  private let mostIdleBytes: Int

  init(_ gpu: any MTLDevice) throws {
    self.gpu = gpu
    mostIdleBytes = Int(clamping: gpu.recommendedMaxWorkingSetSize / 8)
    guard let buffer = gpu.makeBuffer(length: 64, options: .storageModeShared) else {
      throw HostError(DTAPE_OUT_OF_MEMORY, "device: expected a buffer of 64 bytes, got none")
    }
    nothing = Binding(buffer: buffer, offset: 0)
  }

  // MARK: Own memory

  func allocate(_ bytes: UInt64) throws -> UnsafeMutableRawPointer {
    let allocation = try take(bytes)
    lock.withLock { insert(allocation) }
    return allocation.buffer.contents()
  }

  func free(_ memory: UnsafeMutableRawPointer) throws {
    try lock.withLock {
      let allocation = try remove("memory", UInt(bitPattern: memory)) { !$0.adopted }
      retire(allocation)
    }
  }

  /// Memory for one call, which gives it back by `end`.
  func scratch(_ bytes: Int) throws -> Allocation {
    let allocation = try take(UInt64(clamping: bytes))
    lock.withLock {
      allocation.uses = 1
      allocation.freed = true
    }
    return allocation
  }

  private func take(_ bytes: UInt64) throws -> Allocation {
    let (padded, overflow) = bytes.addingReportingOverflow(UInt64(page - 1))
    let length = max(Int(clamping: padded) / page, 1) * page
    guard !overflow, length <= gpu.maxBufferLength else { throw exhausted(bytes) }
    if let idle = lock.withLock({ reuse(length) }) { return idle }
    guard let made = make(length) ?? lock.withLock({ forgetIdle() ? make(length) : nil }) else {
      throw exhausted(bytes)
    }
    return Allocation(made, adopted: false)
  }

  private func make(_ length: Int) -> (any MTLBuffer)? {
    let buffer = gpu.makeBuffer(length: length, options: .storageModeShared)
    buffer?.label = "deltatape"
    return buffer.flatMap { Int(bitPattern: $0.contents()) % page == 0 ? $0 : nil }
  }

  private func exhausted(_ bytes: UInt64) -> HostError {
    HostError(
      DTAPE_OUT_OF_MEMORY,
      "bytes: expected at most what the GPU has (one buffer: \(gpu.maxBufferLength)), got \(bytes)")
  }

  // MARK: Adopted buffers

  func adopt(_ object: AnyObject) throws {
    guard let buffer = object as? any MTLBuffer else {
      throw HostError(DTAPE_INVALID_ARGUMENT, "buffer: expected an MTLBuffer, got another object")
    }
    guard buffer.storageMode == .shared, buffer.device.registryID == gpu.registryID else {
      throw HostError(
        DTAPE_INVALID_ARGUMENT,
        "buffer: expected shared storage on \(gpu.name), got another mode or device")
    }
    let allocation = Allocation(buffer, adopted: true)
    try lock.withLock {
      if live.contains(where: { $0.start < allocation.end && allocation.start < $0.end }) {
        throw HostError(
          DTAPE_INVALID_ARGUMENT,
          "buffer: expected memory that this device does not know yet, got an overlap")
      }
      insert(allocation)
    }
  }

  func release(_ object: AnyObject) throws {
    try lock.withLock {
      let start = (object as? any MTLBuffer).map { UInt(bitPattern: $0.contents()) }
      _ = try remove("buffer", start ?? 0) { $0.adopted && $0.buffer === object }
    }
  }

  // MARK: Pointers

  /// Where the memory of an array lies, if it is the library's or adopted. The caller has to `end`
  /// the use.
  func resolve(_ span: dtape_span) -> (allocation: Allocation, binding: Binding)? {
    let start = UInt(bitPattern: span.data)
    return lock.withLock {
      let next = live.partitioningIndex { $0.start > start }
      guard next > 0, start &+ UInt(span.bytes) <= live[next - 1].end else { return nil }
      let allocation = live[next - 1]
      allocation.uses += 1
      return (allocation, Binding(buffer: allocation.buffer, offset: Int(start - allocation.start)))
    }
  }

  func end(_ allocations: [Allocation]) {
    lock.withLock {
      for allocation in allocations {
        allocation.uses -= 1
        if allocation.freed && allocation.uses == 0 { recycle(allocation) }
      }
    }
  }

  /// Whole pages of someone else's memory, which the GPU may only read.
  func wrap(_ address: UInt, _ bytes: Int) -> Binding? {
    let base = address / UInt(page) * UInt(page)
    let (end, overflow) = address.addingReportingOverflow(UInt(bytes) + UInt(page - 1))
    let length = Int(clamping: end / UInt(page) * UInt(page) - base)
    guard !overflow, length <= gpu.maxBufferLength,
      let pages = UnsafeMutableRawPointer(bitPattern: base),
      let buffer = gpu.makeBuffer(
        bytesNoCopy: pages, length: length, options: .storageModeShared, deallocator: nil)
    else { return nil }
    return Binding(buffer: buffer, offset: Int(address - base))
  }
}

// MARK: - The lists, under the lock

extension Memory {
  private func insert(_ allocation: Allocation) {
    live.insert(allocation, at: live.partitioningIndex { $0.start > allocation.start })
  }

  private func remove(
    _ name: String, _ start: UInt, where fits: (Allocation) -> Bool
  ) throws -> Allocation {
    let index = live.partitioningIndex { $0.start >= start }
    guard index < live.count, live[index].start == start, fits(live[index]) else {
      throw HostError(
        DTAPE_INVALID_ARGUMENT, "\(name): expected one that this device knows, got another")
    }
    return live.remove(at: index)
  }

  private func retire(_ allocation: Allocation) {
    allocation.freed = true
    if allocation.uses == 0 { recycle(allocation) }
  }

  private func recycle(_ allocation: Allocation) {
    let length = allocation.buffer.length
    guard idleBytes + length <= mostIdleBytes else { return }
    idleBytes += length
    idle[length, default: []].append(allocation)
  }

  private func reuse(_ length: Int) -> Allocation? {
    guard let allocation = idle[length]?.popLast() else { return nil }
    idleBytes -= length
    allocation.freed = false
    return allocation
  }

  /// Whether there was any.
  private func forgetIdle() -> Bool {
    defer {
      idle = [:]
      idleBytes = 0
    }
    return idleBytes > 0
  }
}

extension Array {
  /// The first index whose element fulfils a condition that holds from there on.
  fileprivate func partitioningIndex(where holds: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
