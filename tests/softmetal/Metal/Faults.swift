// Failures on request, and rules that abort. SOFTMETAL_FAULT holds clauses NAME, NAME=VALUE or
// NAME@N (only the Nth time it is asked for, counted since the variable last changed), separated by
// commas; it is read anew each time, so that a test sets and unsets it at will.

enum Fault: String {
  /// MTLCreateSystemDefaultDevice finds nothing; MTLCopyAllDevices does.
  case noDefaultDevice = "no_default_device"
  case noDevice = "no_device"
  /// A GPU older than Apple7.
  case oldFamily = "old_family"
  case discreteMemory = "discrete_memory"
  case queue
  case buffer
  /// makeBuffer(bytesNoCopy:) returns nil.
  case wrap
  case compile
  /// The library lacks its functions.
  case function
  case pipeline
  /// threadExecutionWidth is VALUE.
  case width
  /// maxTotalThreadsPerThreadgroup is VALUE.
  case maxThreads = "max_threads"
  /// maxThreadgroupMemoryLength is VALUE.
  case threadgroupMemory = "threadgroup_memory"
  case commandBuffer = "command_buffer"
  case encoder
  /// Execution fails with MTLCommandBufferError.Code VALUE and runs nothing.
  case failure
  /// Execution ends VALUE milliseconds late.
  case hang
  /// The binding of index VALUE is forgotten.
  case unbind
}

private final class Faults: @unchecked Sendable {
  static let shared = Faults()
  private let lock = NSLock()
  private var text = ""
  private var asked: [String: Int] = [:]

  func value(of fault: Fault) -> Int? {
    guard let variable = getenv("SOFTMETAL_FAULT") else { return nil }
    let now = String(cString: variable)
    return lock.withLock {
      if now != text {
        text = now
        asked = [:]
      }
      for clause in now.split(separator: ",") {
        if let value = self.value(of: fault, clause: clause) { return value }
      }
      return nil
    }
  }

  private func value(of fault: Fault, clause: Substring) -> Int? {
    let timed = clause.split(separator: "@")
    let parts = timed[0].split(separator: "=")
    guard parts[0] == fault.rawValue else { return nil }
    asked[fault.rawValue, default: 0] += 1
    if timed.count > 1, Int(timed[1]) != asked[fault.rawValue] { return nil }
    return parts.count > 1 ? Int(parts[1]) ?? 0 : 0
  }
}

func value(of fault: Fault) -> Int? { Faults.shared.value(of: fault) }
func injected(_ fault: Fault) -> Bool { value(of: fault) != nil }

/// What Apple's debug layer asserts.
func rule(_ holds: Bool, _ text: @autoclosure () -> String) {
  if !holds { fatalError("softmetal: \(text())") }
}
