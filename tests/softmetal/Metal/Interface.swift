// The protocols and classes that a host sees, spelled as Apple's importer prints them (SDK 26): names,
// labels, optionals, throws and Sendable. Protocols have no default arguments, so `= []` and `= nil`
// are the shorter overloads in the extensions.

public protocol MTLDevice: NSObjectProtocol, Sendable {
  var name: String { get }
  var registryID: UInt64 { get }
  var maxThreadsPerThreadgroup: MTLSize { get }
  var maxThreadgroupMemoryLength: Int { get }
  var maxBufferLength: Int { get }
  var hasUnifiedMemory: Bool { get }
  var recommendedMaxWorkingSetSize: UInt64 { get }
  var currentAllocatedSize: Int { get }
  func supportsFamily(_ gpuFamily: MTLGPUFamily) -> Bool
  func makeCommandQueue() -> (any MTLCommandQueue)?
  func makeCommandQueue(maxCommandBufferCount: Int) -> (any MTLCommandQueue)?
  func makeBuffer(length: Int, options: MTLResourceOptions) -> (any MTLBuffer)?
  func makeBuffer(
    bytes pointer: UnsafeRawPointer, length: Int, options: MTLResourceOptions
  ) -> (any MTLBuffer)?
  func makeBuffer(
    bytesNoCopy pointer: UnsafeMutableRawPointer, length: Int, options: MTLResourceOptions,
    deallocator: (@Sendable (UnsafeMutableRawPointer, Int) -> Void)?
  ) -> (any MTLBuffer)?
  func makeLibrary(source: String, options: MTLCompileOptions?) throws -> any MTLLibrary
  func makeComputePipelineState(
    function computeFunction: any MTLFunction
  ) throws -> any MTLComputePipelineState
  func makeComputePipelineState(
    descriptor: MTLComputePipelineDescriptor, options: MTLPipelineOption,
    reflection: AutoreleasingUnsafeMutablePointer<MTLAutoreleasedComputePipelineReflection?>?
  ) throws -> any MTLComputePipelineState
}

extension MTLDevice {
  public func makeBuffer(length: Int) -> (any MTLBuffer)? {
    makeBuffer(length: length, options: [])
  }
  public func makeBuffer(bytes pointer: UnsafeRawPointer, length: Int) -> (any MTLBuffer)? {
    makeBuffer(bytes: pointer, length: length, options: [])
  }
  public func makeBuffer(
    bytesNoCopy pointer: UnsafeMutableRawPointer, length: Int, options: MTLResourceOptions = []
  ) -> (any MTLBuffer)? {
    makeBuffer(bytesNoCopy: pointer, length: length, options: options, deallocator: nil)
  }
  public func makeBuffer(
    bytesNoCopy pointer: UnsafeMutableRawPointer, length: Int,
    deallocator: (@Sendable (UnsafeMutableRawPointer, Int) -> Void)?
  ) -> (any MTLBuffer)? {
    makeBuffer(bytesNoCopy: pointer, length: length, options: [], deallocator: deallocator)
  }
}

public protocol MTLCommandQueue: NSObjectProtocol, Sendable {
  var label: String? { get set }
  var device: any MTLDevice { get }
  func makeCommandBuffer() -> (any MTLCommandBuffer)?
}

public protocol MTLLibrary: NSObjectProtocol, Sendable {
  var label: String? { get set }
  var device: any MTLDevice { get }
  var functionNames: [String] { get }
  func makeFunction(name functionName: String) -> (any MTLFunction)?
}

public protocol MTLFunction: NSObjectProtocol, Sendable {
  var label: String? { get set }
  var device: any MTLDevice { get }
  var functionType: MTLFunctionType { get }
  var name: String { get }
}

public protocol MTLAllocation: NSObjectProtocol {
  var allocatedSize: Int { get }
}

public protocol MTLComputePipelineState: MTLAllocation, Sendable {
  var label: String? { get }
  var device: any MTLDevice { get }
  var maxTotalThreadsPerThreadgroup: Int { get }
  var threadExecutionWidth: Int { get }
  var staticThreadgroupMemoryLength: Int { get }
}

public protocol MTLResource: MTLAllocation {
  var label: String? { get set }
  var device: any MTLDevice { get }
  var storageMode: MTLStorageMode { get }
  var resourceOptions: MTLResourceOptions { get }
}

public protocol MTLBuffer: MTLResource {
  var length: Int { get }
  var gpuAddress: UInt64 { get }
  func contents() -> UnsafeMutableRawPointer
}

public typealias MTLCommandBufferHandler = @Sendable (any MTLCommandBuffer) -> Void

public protocol MTLCommandBuffer: NSObjectProtocol {
  var device: any MTLDevice { get }
  var commandQueue: any MTLCommandQueue { get }
  var retainedReferences: Bool { get }
  var label: String? { get set }
  var kernelStartTime: CFTimeInterval { get }
  var kernelEndTime: CFTimeInterval { get }
  var gpuStartTime: CFTimeInterval { get }
  var gpuEndTime: CFTimeInterval { get }
  var status: MTLCommandBufferStatus { get }
  var error: (any Error)? { get }
  func enqueue()
  func commit()
  func addScheduledHandler(_ block: @escaping MTLCommandBufferHandler)
  func addCompletedHandler(_ block: @escaping MTLCommandBufferHandler)
  @available(*, noasync, message: "Use 'await scheduled()' instead.")
  func waitUntilScheduled()
  @available(*, noasync, message: "Use 'await completed()' instead.")
  func waitUntilCompleted()
  func makeComputeCommandEncoder() -> (any MTLComputeCommandEncoder)?
  func makeComputeCommandEncoder(dispatchType: MTLDispatchType) -> (any MTLComputeCommandEncoder)?
}

public protocol MTLCommandEncoder: NSObjectProtocol {
  var label: String? { get set }
  var device: any MTLDevice { get }
  func endEncoding()
  func insertDebugSignpost(_ string: String)
  func pushDebugGroup(_ string: String)
  func popDebugGroup()
}

public protocol MTLComputeCommandEncoder: MTLCommandEncoder {
  var dispatchType: MTLDispatchType { get }
  func setComputePipelineState(_ state: any MTLComputePipelineState)
  func setBytes(_ bytes: UnsafeRawPointer, length: Int, index: Int)
  func setBuffer(_ buffer: (any MTLBuffer)?, offset: Int, index: Int)
  func setBufferOffset(_ offset: Int, index: Int)
  func dispatchThreadgroups(_ threadgroupsPerGrid: MTLSize, threadsPerThreadgroup: MTLSize)
  func memoryBarrier(scope: MTLBarrierScope)
  func memoryBarrier(resources: [any MTLResource])
}

public class MTLCompileOptions: NSObject {
  public var preprocessorMacros: [String: NSObject]?
  /// As for a host program built with an old SDK, which decides the default on a Mac.
  public var languageVersion: MTLLanguageVersion = .version2_4
  public var mathMode: MTLMathMode = .fast
  public var mathFloatingPointFunctions: MTLMathFloatingPointFunctions = .fast
  public var preserveInvariance = false
  public var maxTotalThreadsPerThreadgroup = 0

  /// Setting it false means safe and precise, as in Apple's header.
  public var fastMathEnabled: Bool {
    get { mathMode == .fast }
    set {
      mathMode = newValue ? .fast : .safe
      mathFloatingPointFunctions = newValue ? .fast : .precise
    }
  }
}

public class MTLComputePipelineDescriptor: NSObject {
  public var label: String?
  public var computeFunction: (any MTLFunction)?
  public var threadGroupSizeIsMultipleOfThreadExecutionWidth = false
  public var maxTotalThreadsPerThreadgroup = 0
}

public class MTLComputePipelineReflection: NSObject {}
public typealias MTLAutoreleasedComputePipelineReflection = MTLComputePipelineReflection
/// Takes nil and &variable, as Apple's does.
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>
