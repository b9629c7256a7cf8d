/// `sqlite3_preupdate_old` or `sqlite3_preupdate_new`: the value of a column before or after the change that the hook
/// is called for.
typealias PreupdateValue = (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32
