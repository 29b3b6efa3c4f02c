// What a call reports: a status and a sentence, kept for dtape_last_error.
import DeltatapeMetalHost
import Metal

struct HostError: Error {
  let status: dtape_status
  let sentence: String

  init(_ code: dtape_status_code, _ sentence: String) {
    status = dtape_status(code.rawValue)
    self.sentence = sentence
  }
}

/// The body of every exported function. Threads that Python made have no autorelease pool.
func reporting(_ body: () throws -> Void) -> dtape_status {
  autoreleasepool {
    do {
      try body()
      return dtape_status(DTAPE_OK.rawValue)
    } catch {
      let text = error.localizedDescription
      let known = error as? HostError ?? HostError(DTAPE_DEVICE_ERROR, "device: \(text)")
      return dtape_fail(known.status, known.sentence)
    }
  }
}

extension HostError {
  /// Why a command buffer failed.
  init(_ error: (any Error)?) {
    let text = error?.localizedDescription ?? "it gave no reason"
    let sentence = "device: expected the command buffer to complete, got: \(text)"
    switch (error as? MTLCommandBufferError)?.code {
    case .outOfMemory: self.init(DTAPE_OUT_OF_MEMORY, sentence)
    case .accessRevoked, .notPermitted, .deviceRemoved: self.init(DTAPE_DEVICE_LOST, sentence)
    default:
      // Metal ignores what is submitted after certain failures.
      let ignored = text.contains("SubmissionsIgnored")
      self.init(ignored ? DTAPE_DEVICE_LOST : DTAPE_DEVICE_ERROR, sentence)
    }
  }

  var isLoss: Bool { status == dtape_status(DTAPE_DEVICE_LOST.rawValue) }
}
