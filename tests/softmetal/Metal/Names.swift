// swift-format-ignore-file: AlwaysUseLowerCamelCase
// Value types, enums and their raw values, as in Apple's headers. @nonexhaustive makes a switch
// without a default an error outside this module, as it is for Apple's open enums.

public struct MTLSize: Sendable {
  public var width: Int
  public var height: Int
  public var depth: Int

  public init() { self.init(width: 0, height: 0, depth: 0) }
  public init(width: Int, height: Int, depth: Int) {
    self.width = width
    self.height = height
    self.depth = depth
  }
}

public func MTLSizeMake(_ width: Int, _ height: Int, _ depth: Int) -> MTLSize {
  MTLSize(width: width, height: height, depth: depth)
}

@nonexhaustive public enum MTLGPUFamily: Int, Sendable {
  case apple1 = 1001
  case apple2, apple3, apple4, apple5, apple6, apple7, apple8, apple9, apple10
  case mac1 = 2001
  case mac2
  case common1 = 3001
  case common2, common3
  case metal3 = 5001
  case metal4
}

@nonexhaustive public enum MTLStorageMode: UInt, Sendable {
  case shared = 0
  case managed, `private`, memoryless
}

@nonexhaustive public enum MTLDispatchType: UInt, Sendable {
  case serial = 0
  case concurrent
}

@nonexhaustive public enum MTLCommandBufferStatus: UInt, Sendable {
  case notEnqueued = 0
  case enqueued, committed, scheduled, completed, error
}

@nonexhaustive public enum MTLMathMode: Int, Sendable {
  case safe = 0
  case relaxed, fast
}

@nonexhaustive public enum MTLMathFloatingPointFunctions: Int, Sendable {
  case fast = 0
  case precise
}

@nonexhaustive public enum MTLLanguageVersion: UInt, Sendable {
  case version2_0 = 0x20000
  case version2_1, version2_2, version2_3, version2_4
  case version3_0 = 0x30000
  case version3_1, version3_2
  case version4_0 = 0x40000
}

@nonexhaustive public enum MTLFunctionType: UInt, Sendable {
  case vertex = 1
  case fragment, kernel
  case visible = 5
  case intersection
}

public struct MTLResourceOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let storageModeShared = MTLResourceOptions([])
  public static let cpuCacheModeWriteCombined = MTLResourceOptions(rawValue: 1)
  public static let storageModeManaged = MTLResourceOptions(rawValue: 16)
  public static let storageModePrivate = MTLResourceOptions(rawValue: 32)
  public static let storageModeMemoryless = MTLResourceOptions(rawValue: 48)
  public static let hazardTrackingModeUntracked = MTLResourceOptions(rawValue: 256)
  public static let hazardTrackingModeTracked = MTLResourceOptions(rawValue: 512)
}

public struct MTLBarrierScope: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let buffers = MTLBarrierScope(rawValue: 1)
  public static let textures = MTLBarrierScope(rawValue: 2)
}

public struct MTLPipelineOption: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let bindingInfo = MTLPipelineOption(rawValue: 1)
  public static let bufferTypeInfo = MTLPipelineOption(rawValue: 2)
  public static let failOnBinaryArchiveMiss = MTLPipelineOption(rawValue: 4)
}

public let MTLCommandBufferErrorDomain = "MTLCommandBufferErrorDomain"
public let MTLLibraryErrorDomain = "MTLLibraryErrorDomain"

public struct MTLCommandBufferError: DescribedError {
  @nonexhaustive public enum Code: UInt, Sendable {
    case none = 0
    case `internal`, timeout, pageFault, accessRevoked
    case notPermitted = 7
    case outOfMemory, invalidResource, memoryless, deviceRemoved, stackOverflow
  }
  public let code: Code
  let sentence: String

  public static var `internal`: Code { .internal }
  public static var timeout: Code { .timeout }
  public static var pageFault: Code { .pageFault }
  public static var accessRevoked: Code { .accessRevoked }
  public static var notPermitted: Code { .notPermitted }
  public static var outOfMemory: Code { .outOfMemory }
  public static var invalidResource: Code { .invalidResource }
  public static var memoryless: Code { .memoryless }
  public static var deviceRemoved: Code { .deviceRemoved }
  public static var stackOverflow: Code { .stackOverflow }
}

public struct MTLLibraryError: DescribedError {
  @nonexhaustive public enum Code: UInt, Sendable {
    case unsupported = 1
    case `internal`, compileFailure, compileWarning, functionNotFound, fileNotFound
  }
  public let code: Code
  let sentence: String

  public static var unsupported: Code { .unsupported }
  public static var `internal`: Code { .internal }
  public static var compileFailure: Code { .compileFailure }
  public static var functionNotFound: Code { .functionNotFound }
}
