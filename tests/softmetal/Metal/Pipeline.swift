// Libraries, functions and pipelines, compiled by the shader engine.
import SoftMetal

func taking(_ message: UnsafeMutablePointer<CChar>?) -> String {
  guard let message else { return "no message" }
  defer { free(message) }
  return String(cString: message)
}

final class SoftLibrary: NSObject, MTLLibrary, @unchecked Sendable {
  let soft: SoftDevice
  let functions: [SoftFunction]
  var label: String?
  var device: any MTLDevice { soft }
  var functionNames: [String] { functions.map { $0.name } }

  init(_ device: SoftDevice, _ source: String, _ options: MTLCompileOptions) throws {
    soft = device
    functions = try SoftLibrary.functions(device, source, options)
  }

  private static func functions(
    _ device: SoftDevice, _ source: String, _ options: MTLCompileOptions
  ) throws -> [SoftFunction] {
    guard !injected(.compile) else {
      throw MTLLibraryError(code: .compileFailure, sentence: "injected: compile")
    }
    guard options.languageVersion.rawValue >= MTLLanguageVersion.version3_1.rawValue else {
      throw MTLLibraryError(
        code: .compileFailure, sentence: "languageVersion: the shaders are written in Metal 3.1")
    }
    let texts = (options.preprocessorMacros ?? [:]).map { strdup("\($0.key)=\($0.value)") }
    defer { for text in texts { free(text) } }
    var message: UnsafeMutablePointer<CChar>?
    let fast = options.mathMode == .safe && options.mathFloatingPointFunctions == .precise ? 0 : 1
    guard
      let library = softmetal_compile(
        source, texts.map { UnsafePointer($0) }, texts.count, Int32(fast), &message)
    else { throw MTLLibraryError(code: .compileFailure, sentence: taking(message)) }
    guard !injected(.function) else { return [] }
    return (0..<softmetal_function_count(library)).map {
      SoftFunction(
        device, softmetal_function_at(library, $0), options.maxTotalThreadsPerThreadgroup)
    }
  }

  func makeFunction(name functionName: String) -> (any MTLFunction)? {
    functions.first { $0.name == functionName }
  }
}

final class SoftFunction: NSObject, MTLFunction, @unchecked Sendable {
  let soft: SoftDevice
  let handle: OpaquePointer
  let name: String
  let functionType = MTLFunctionType.kernel
  /// Every bound on the threads of a group that was given: by the shader, by the compile options.
  let threadLimits: [Int]
  var label: String?
  var device: any MTLDevice { soft }
  var threadgroupBytes: Int { Int(softmetal_function_threadgroup_bytes(handle)) }

  init(_ device: SoftDevice, _ handle: OpaquePointer, _ compiledFor: Int) {
    soft = device
    self.handle = handle
    name = String(cString: softmetal_function_name(handle))
    threadLimits = [Int(softmetal_function_max_threads(handle)), compiledFor].filter { $0 > 0 }
  }
}

final class SoftPipeline: NSObject, MTLComputePipelineState, @unchecked Sendable {
  let soft: SoftDevice
  let function: SoftFunction
  let label: String?
  let maxTotalThreadsPerThreadgroup: Int
  let threadExecutionWidth: Int
  let allocatedSize = 0
  var device: any MTLDevice { soft }
  var staticThreadgroupMemoryLength: Int { function.threadgroupBytes }

  init(_ device: SoftDevice, _ descriptor: MTLComputePipelineDescriptor) throws {
    guard let function = descriptor.computeFunction as? SoftFunction else {
      throw MTLLibraryError(code: .functionNotFound, sentence: "no compute function")
    }
    let limits =
      function.threadLimits + [descriptor.maxTotalThreadsPerThreadgroup].filter { $0 > 0 }
    try SoftPipeline.check(function, limits, device)
    soft = device
    self.function = function
    label = descriptor.label
    maxTotalThreadsPerThreadgroup =
      value(of: .maxThreads) ?? limits.first ?? device.maxThreadsPerThreadgroup.width
    threadExecutionWidth = value(of: .width) ?? 32
  }

  private static func check(_ function: SoftFunction, _ limits: [Int], _ device: SoftDevice) throws
  {
    let sentence: String? =
      if injected(.pipeline) {
        "injected: pipeline"
      } else if Set(limits).count > 1 {
        "maxTotalThreadsPerThreadgroup differs from that of the shader: \(limits)"
      } else if limits.contains(where: { $0 > device.maxThreadsPerThreadgroup.width }) {
        "maxTotalThreadsPerThreadgroup is over \(device.maxThreadsPerThreadgroup.width): \(limits)"
      } else if function.threadgroupBytes > device.maxThreadgroupMemoryLength {
        "threadgroup memory: \(function.threadgroupBytes) bytes, over "
          + "\(device.maxThreadgroupMemoryLength)"
      } else { nil }
    if let sentence { throw MTLLibraryError(code: .internal, sentence: sentence) }
  }
}
