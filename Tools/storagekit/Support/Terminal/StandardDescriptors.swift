import Foundation

/// The descriptors 0, 1 and 2, which a caller may have closed.
enum StandardDescriptors {
    /// Opens those that are closed: otherwise the next file that is opened would get the number, and output would be written into the store.
    ///
    /// Each is opened for the other direction, so that reading or writing it still fails.
    static func occupy() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            // The result is the lowest free number, which is this one.
            _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
    }
}
