// The few names that Apple's Metal re-exports from Foundation, so that a host on Linux needs neither
// Foundation nor conditional compilation.
@_exported import Glibc

public protocol NSObjectProtocol: AnyObject {}

open class NSObject: NSObjectProtocol {
  public init() {}
}

public final class NSNumber: NSObject, ExpressibleByIntegerLiteral, CustomStringConvertible,
  @unchecked Sendable
{
  public let description: String

  public init(integerLiteral value: Int) { description = "\(value)" }
  public init(value: Int) { description = "\(value)" }
  public init(value: Bool) { description = value ? "1" : "0" }
}

public final class NSString: NSObject, ExpressibleByStringLiteral, CustomStringConvertible,
  @unchecked Sendable
{
  public let description: String

  public init(stringLiteral value: String) { description = value }
  public init(string: String) { description = string }
}

/// An error with a sentence of its own; the errors of Names.swift are.
protocol DescribedError: Error {
  var sentence: String { get }
}

extension Error {
  public var localizedDescription: String { (self as? any DescribedError)?.sentence ?? "\(self)" }
}

public class NSLock: NSObject, @unchecked Sendable {
  fileprivate let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  public override init() { pthread_mutex_init(mutex, nil) }
  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }
  public func lock() { pthread_mutex_lock(mutex) }
  public func unlock() { pthread_mutex_unlock(mutex) }
  public func `try`() -> Bool { pthread_mutex_trylock(mutex) == 0 }
  public func withLock<R>(_ body: () throws -> R) rethrows -> R {
    lock()
    defer { unlock() }
    return try body()
  }
}

public final class NSCondition: NSObject, @unchecked Sendable {
  private let mutex = NSLock()
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  public override init() { pthread_cond_init(condition, nil) }
  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
  }
  public func lock() { mutex.lock() }
  public func unlock() { mutex.unlock() }
  public func wait() { pthread_cond_wait(condition, mutex.mutex) }
  public func signal() { pthread_cond_signal(condition) }
  public func broadcast() { pthread_cond_broadcast(condition) }
}

public typealias CFTimeInterval = Double

public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
  try body()
}

func uptime() -> CFTimeInterval {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
