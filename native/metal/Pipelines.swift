// Compiled kernels. Each variant is compiled once, on first use, from the source in the library.
import DeltatapeMetalHost
import Metal

/// A kernel and the macros that make it one variant of many: the whole key.
struct Variant: Hashable {
  let kernel: String
  let threads: Int
  private(set) var macros: [String: String]

  init(_ kernel: String, threads: Int, _ macros: [String: String]) {
    self.kernel = kernel
    self.threads = threads
    self.macros = macros
    self.macros["THREADS"] = "\(threads)"
  }
}

final class Pipelines: @unchecked Sendable {
  /// One variant; its lock is held while it compiles, so that others need not wait.
  private final class Entry: @unchecked Sendable {
    let lock = NSLock()
    var pipeline: (any MTLComputePipelineState)?
  }

  private let gpu: any MTLDevice
  private let lock = NSLock()
  private var entries: [Variant: Entry] = [:]

  init(_ gpu: any MTLDevice) { self.gpu = gpu }

  func pipeline(_ variant: Variant) throws -> any MTLComputePipelineState {
    let entry = lock.withLock {
      let entry = entries[variant] ?? Entry()
      entries[variant] = entry
      return entry
    }
    return try entry.lock.withLock {
      if let pipeline = entry.pipeline { return pipeline }
      let pipeline = try compile(variant)
      entry.pipeline = pipeline
      return pipeline
    }
  }

  private func compile(_ variant: Variant) throws -> any MTLComputePipelineState {
    let descriptor = MTLComputePipelineDescriptor()
    descriptor.label = variant.kernel
    descriptor.computeFunction = try function(variant)
    descriptor.threadGroupSizeIsMultipleOfThreadExecutionWidth = true
    let pipeline: any MTLComputePipelineState
    do {
      pipeline = try gpu.makeComputePipelineState(
        descriptor: descriptor, options: [], reflection: nil)
    } catch {
      throw failure(variant, "to become a pipeline, got: \(error.localizedDescription)")
    }
    try judge(pipeline, variant)
    Counters.shared.add(to: \.pipelines_compiled)
    return pipeline
  }

  private func function(_ variant: Variant) throws -> any MTLFunction {
    let source = dtape_shader(variant.kernel).map { String(cString: $0) } ?? ""
    let library: any MTLLibrary
    do {
      library = try gpu.makeLibrary(source: source, options: Pipelines.options(variant.macros))
    } catch {
      throw failure(variant, "to compile, got: \(error.localizedDescription)")
    }
    guard library.functionNames.contains(variant.kernel),
      let function = library.makeFunction(name: variant.kernel)
    else {
      throw failure(variant, "among the functions compiled, got \(library.functionNames)")
    }
    return function
  }

  /// Oversized groups do nothing at all on a GPU, silently.
  private func judge(_ pipeline: any MTLComputePipelineState, _ variant: Variant) throws {
    guard pipeline.threadExecutionWidth == 32 else {
      throw failure(variant, "in simdgroups of 32, got \(pipeline.threadExecutionWidth)")
    }
    guard pipeline.maxTotalThreadsPerThreadgroup >= variant.threads else {
      throw failure(
        variant,
        "to run \(variant.threads) threads a group, got \(pipeline.maxTotalThreadsPerThreadgroup)")
    }
    let (used, most) = (pipeline.staticThreadgroupMemoryLength, gpu.maxThreadgroupMemoryLength)
    guard used <= most else {
      throw failure(variant, "to use at most \(most) bytes of threadgroup memory, got \(used)")
    }
  }

  private func failure(_ variant: Variant, _ words: String) -> HostError {
    HostError(DTAPE_DEVICE_ERROR, "device: expected the kernel \(variant.kernel) \(words)")
  }

  /// The oldest language that has what the kernels use, whatever program loads this library. The
  /// safe mode alone would leave the fast functions on.
  private static func options(_ macros: [String: String]) -> MTLCompileOptions {
    let options = MTLCompileOptions()
    options.languageVersion = .version3_1
    options.preprocessorMacros = macros.mapValues { NSString(string: $0) }
    if #available(macOS 15, *) {
      options.mathMode = .safe
      options.mathFloatingPointFunctions = .precise
    } else {
      options.fastMathEnabled = false
    }
    return options
  }
}
