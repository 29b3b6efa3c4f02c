// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The device and its buffers.
import SoftMetal

let page = Int(sysconf(Int32(_SC_PAGESIZE)))

public func MTLCreateSystemDefaultDevice() -> (any MTLDevice)? {
  injected(.noDevice) || injected(.noDefaultDevice) ? nil : SoftDevice.shared
}

public func MTLCopyAllDevices() -> [any MTLDevice] {
  injected(.noDevice) ? [] : [SoftDevice.shared]
}

final class SoftDevice: NSObject, MTLDevice, @unchecked Sendable {
  static let shared = SoftDevice()

  let name = "Software Metal"
  let registryID: UInt64 = 1
  let maxThreadsPerThreadgroup = MTLSize(width: 1024, height: 1024, depth: 1024)
  let maxBufferLength = 1 << 36
  let recommendedMaxWorkingSetSize: UInt64 = 1 << 36
  private let lock = NSLock()
  private var allocated = 0

  var maxThreadgroupMemoryLength: Int { value(of: .threadgroupMemory) ?? 32768 }
  var hasUnifiedMemory: Bool { !injected(.discreteMemory) }
  var currentAllocatedSize: Int { lock.withLock { allocated } }

  func supportsFamily(_ gpuFamily: MTLGPUFamily) -> Bool {
    switch gpuFamily {
    case .apple7: !injected(.oldFamily)
    case .apple1, .apple2, .apple3, .apple4, .apple5, .apple6: true
    case .common1, .common2, .common3, .metal3: true
    default: false
    }
  }

  func makeCommandQueue() -> (any MTLCommandQueue)? { makeCommandQueue(maxCommandBufferCount: 64) }
  func makeCommandQueue(maxCommandBufferCount: Int) -> (any MTLCommandQueue)? {
    rule(maxCommandBufferCount > 0, "makeCommandQueue: maxCommandBufferCount must be positive")
    return injected(.queue) ? nil : SoftQueue(self, maxCommandBufferCount)
  }

  func makeBuffer(length: Int, options: MTLResourceOptions) -> (any MTLBuffer)? {
    rule(length > 0, "makeBuffer: a buffer of length \(length)")
    var memory: UnsafeMutableRawPointer?
    guard !injected(.buffer), length <= maxBufferLength,
      posix_memalign(&memory, page, length) == 0, let memory
    else { return nil }
    memset(memory, 0xff, length)  // what was never written is NaN
    return SoftBuffer(self, memory, length, options) { memory, _ in free(memory) }
  }

  func makeBuffer(
    bytes pointer: UnsafeRawPointer, length: Int, options: MTLResourceOptions
  ) -> (any MTLBuffer)? {
    let buffer = makeBuffer(length: length, options: options)
    buffer?.contents().copyMemory(from: pointer, byteCount: length)
    return buffer
  }

  func makeBuffer(
    bytesNoCopy pointer: UnsafeMutableRawPointer, length: Int, options: MTLResourceOptions,
    deallocator: (@Sendable (UnsafeMutableRawPointer, Int) -> Void)?
  ) -> (any MTLBuffer)? {
    rule(length > 0, "makeBuffer: a buffer of length \(length)")
    rule(Int(bitPattern: pointer) % page == 0, "makeBuffer: bytesNoCopy is not page aligned")
    rule(length % page == 0, "makeBuffer: bytesNoCopy of \(length) bytes, not whole pages")
    guard !injected(.wrap), length <= maxBufferLength else { return nil }
    return SoftBuffer(self, pointer, length, options, deallocator)
  }

  func makeLibrary(source: String, options: MTLCompileOptions?) throws -> any MTLLibrary {
    try SoftLibrary(self, source, options ?? MTLCompileOptions())
  }

  func makeComputePipelineState(
    function: any MTLFunction
  ) throws -> any MTLComputePipelineState {
    let descriptor = MTLComputePipelineDescriptor()
    descriptor.computeFunction = function
    return try SoftPipeline(self, descriptor)
  }

  func makeComputePipelineState(
    descriptor: MTLComputePipelineDescriptor, options: MTLPipelineOption,
    reflection: AutoreleasingUnsafeMutablePointer<MTLAutoreleasedComputePipelineReflection?>?
  ) throws -> any MTLComputePipelineState {
    try SoftPipeline(self, descriptor)
  }

  func account(_ bytes: Int) { lock.withLock { allocated += bytes } }
}

final class SoftBuffer: NSObject, MTLBuffer {
  let soft: SoftDevice
  let base: UnsafeMutableRawPointer
  let length: Int
  let resourceOptions: MTLResourceOptions
  let deallocator: (@Sendable (UnsafeMutableRawPointer, Int) -> Void)?
  var label: String?

  init(
    _ device: SoftDevice, _ base: UnsafeMutableRawPointer, _ length: Int,
    _ options: MTLResourceOptions,
    _ deallocator: (@Sendable (UnsafeMutableRawPointer, Int) -> Void)?
  ) {
    soft = device
    self.base = base
    self.length = length
    resourceOptions = options
    self.deallocator = deallocator
    device.account(length)
  }
  deinit {
    soft.account(-length)
    deallocator?(base, length)
  }

  var device: any MTLDevice { soft }
  var allocatedSize: Int { length }
  var gpuAddress: UInt64 { UInt64(UInt(bitPattern: base)) }
  var storageMode: MTLStorageMode { MTLStorageMode(rawValue: resourceOptions.rawValue >> 4 & 3)! }

  func contents() -> UnsafeMutableRawPointer {
    rule(storageMode != .private && storageMode != .memoryless, "contents of a private buffer")
    return base
  }
}
