public import Foundation

extension StorageError.Code {
    /// A cached value couldn't be read.
    public static let cacheReadFailed = StorageError.Code("cache-read-failed")
    /// A cache couldn't be written.
    public static let cacheWriteFailed = StorageError.Code("cache-write-failed")
    /// A cached value isn't of the requested type.
    public static let cacheDecodingFailed = StorageError.Code("cache-decoding-failed")
    /// A value can't be encoded for a cache.
    public static let cacheEncodingFailed = StorageError.Code("cache-encoding-failed")
}

extension StorageError: LocalizedError {
    public var errorDescription: String? { message }
    /// The ``remedy``.
    public var recoverySuggestion: String? { remedy }
}
