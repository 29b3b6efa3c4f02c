// Mistakes that Apple's compiler refuses: each line that ends in "// error: TEXT" has to get an error
// with that text from our module as well, and no other line any (test_module.py).
import Metal

func optionals(
  _ device: any MTLDevice, _ queue: any MTLCommandQueue, _ library: any MTLLibrary,
  _ commands: any MTLCommandBuffer
) throws {
  _ = MTLCreateSystemDefaultDevice().name  // error: must be unwrapped
  let q: any MTLCommandQueue = device.makeCommandQueue()  // error: must be unwrapped
  let b: any MTLBuffer = device.makeBuffer(length: 16)  // error: must be unwrapped
  let f: any MTLFunction = library.makeFunction(name: "k")  // error: must be unwrapped
  let c: any MTLCommandBuffer = queue.makeCommandBuffer()  // error: must be unwrapped
  commands.makeComputeCommandEncoder().endEncoding()  // error: must be unwrapped
  _ = commands.error.localizedDescription  // error: must be unwrapped
  if let x = try device.makeLibrary(source: "", options: nil) { _ = x }  // error: Optional type
  guard let p = b.contents() else { return }  // error: must have Optional type
  _ = (q, f, c, p)
}

func throwing(_ device: any MTLDevice, _ f: any MTLFunction) {
  _ = device.makeLibrary(source: "", options: nil)  // error: can throw
  _ = device.makeComputePipelineState(function: f)  // error: can throw
}

func labels(
  _ device: any MTLDevice, _ library: any MTLLibrary, _ f: any MTLFunction, _ b: any MTLBuffer,
  _ e: any MTLComputeCommandEncoder, _ s: any MTLComputePipelineState, _ c: any MTLCommandBuffer,
  _ raw: UnsafeMutableRawPointer
) throws {
  let one = MTLSize(width: 1, height: 1, depth: 1)
  e.setBuffer(b, offset: 0, atIndex: 0)  // error: incorrect argument label
  e.setBuffer(b, offset: 0, at: 0)  // error: incorrect argument label
  e.setBuffer(b, index: 0)  // error: missing argument for parameter 'offset'
  e.setBytes(raw, length: 4, at: 0)  // error: incorrect argument label
  e.setPipelineState(s)  // error: has no member
  e.dispatchThreadgroups(one, threadsPerGroup: one)  // error: incorrect argument label
  e.dispatchThreadgroups(1, threadsPerThreadgroup: one)  // error: value of type 'Int'
  e.memoryBarrier(.buffers)  // error: label 'scope:'
  _ = MTLSize(1, 1, 1)  // error: missing argument labels
  _ = MTLSize(width: 1, height: 1)  // error: missing argument for parameter 'depth'
  _ = one == one  // error: requires that 'MTLSize' conform to 'Equatable'
  _ = try device.makeLibrary(source: "")  // error: missing argument for parameter 'options'
  _ = try device.makeComputePipelineState(f)  // error: missing argument label 'function:'
  let d = MTLComputePipelineDescriptor()
  _ = try device.makeComputePipelineState(descriptor: d, options: [])  // error: 'reflection'
  _ = library.makeFunction("k")  // error: missing argument label 'name:'
  _ = device.newCommandQueue()  // error: has no member
  c.addCompletionHandler { _ in }  // error: has no member
}

func types(
  _ device: any MTLDevice, _ b: any MTLBuffer, _ e: any MTLComputeCommandEncoder,
  _ c: any MTLCommandBuffer, _ s: any MTLComputePipelineState, _ raw: UnsafeRawPointer, _ n: UInt32
) {
  e.setBytes(n, length: 4, index: 0)  // error: cannot convert value of type 'UInt32'
  e.setBytes(raw, length: n, index: 0)  // error: cannot convert value of type 'UInt32'
  _ = MTLSize(width: n, height: 1, depth: 1)  // error: cannot convert value of type 'UInt32'
  _ = device.makeBuffer(length: n)  // error: cannot convert value of type 'UInt32'
  _ = device.makeBuffer(length: 16, options: .shared)  // error: has no member 'shared'
  _ = device.makeBuffer(bytesNoCopy: raw, length: 16)  // error: 'UnsafeRawPointer'
  let r: Int = device.registryID  // error: cannot convert value of type 'UInt64'
  let w: UInt32 = s.threadExecutionWidth  // error: cannot convert value of type 'Int'
  b.length = 4  // error: get-only
  s.label = "x"  // error: get-only
  device.name = "x"  // error: get-only
  c.status = .error  // error: get-only
  let o = MTLCompileOptions()
  o.preprocessorMacros = ["A": "1"]  // error: cannot convert value of type 'String'
  o.preprocessorMacros = ["A": 1]  // error: cannot convert value of type 'Int'
  o.languageVersion = .v3_1  // error: has no member
  o.fastMath = true  // error: has no member
  _ = (r, w)
}

func switches(_ s: MTLCommandBufferStatus, _ m: MTLStorageMode, _ c: MTLCommandBufferError.Code) {
  switch s {  // error: may have additional unknown values
  case .notEnqueued, .enqueued, .committed, .scheduled: return
  case .completed, .error: break
  }
  switch s {
  case .completed: return
  @unknown default: break
  }
  switch m {  // error: may have additional unknown values
  case .shared, .managed, .private, .memoryless: return
  }
  switch c {
  case .outOfMemory, .deviceRemoved: return
  default: break
  }
}

// Concurrency: the protocols that SDK 26 marks are Sendable, and no other.

func send(_ x: some Sendable) {}

func sendable(
  _ d: any MTLDevice, _ q: any MTLCommandQueue, _ l: any MTLLibrary, _ f: any MTLFunction,
  _ s: any MTLComputePipelineState
) {
  send(d)
  send(q)
  send(l)
  send(f)
  send(s)
  send(MTLSize())
}

func notSendable(
  _ c: any MTLCommandBuffer, _ b: any MTLBuffer, _ e: any MTLComputeCommandEncoder
) {
  send(c)  // error: does not conform to the 'Sendable'
  send(b)  // error: does not conform to the 'Sendable'
  send(e)  // error: does not conform to the 'Sendable'
  send(MTLCompileOptions())  // error: does not conform to the 'Sendable'
  send(MTLComputePipelineDescriptor())  // error: does not conform to the 'Sendable'
}

final class Box { var n = 0 }
var global = 0  // error: not concurrency-safe
let sharedBuffer = MTLCreateSystemDefaultDevice()?.makeBuffer(length: 4)  // error: not concurrency
let sharedDevice = MTLCreateSystemDefaultDevice()
struct Holder: Sendable {
  let device: any MTLDevice
  let buffer: any MTLBuffer  // error: non-Sendable type 'any MTLBuffer'
}

func captures(
  _ c: any MTLCommandBuffer, _ b: any MTLBuffer, _ d: any MTLDevice, _ raw: UnsafeMutableRawPointer
) {
  let box = Box()
  var count = 0
  c.addCompletedHandler { _ in box.n += 1 }  // error: non-Sendable type 'Box'
  c.addCompletedHandler { _ in _ = b.length }  // error: non-Sendable type 'any MTLBuffer'
  c.addCompletedHandler { _ in c.label = "x" }  // error: non-Sendable type 'any MTLCommandBuffer'
  c.addCompletedHandler { _ in count += 1 }  // error: mutation of captured var 'count'
  _ = d.makeBuffer(bytesNoCopy: raw, length: 1) { _, _ in box.n += 1 }  // error: type 'Box'
  c.addCompletedHandler { done in _ = (d.name, done.status) }
  c.addCompletedHandler { 0 }  // error: expects 1 argument
}

func asynchronous(_ c: any MTLCommandBuffer) async {
  c.waitUntilCompleted()  // error: unavailable from asynchronous contexts
  c.waitUntilScheduled()  // error: unavailable from asynchronous contexts
}
