#if STORAGE_SERVER
    internal import StorageCore
    internal import StorageSync

    extension ServerSentChanges {
        /// Where a stream resumes: the end of a page.
        struct ResumePoint: Equatable {
            let line: [UInt8]
            let position: Int64

            init(line: [UInt8], position: Int64) { (self.line, self.position) = (line, position) }

            /// Parses an event's id.
            init?(id: String) {
                let parts = id.split(separator: ":", omittingEmptySubsequences: false)
                guard parts.count == 2, let line = Hexadecimal.bytes(String(parts[0])),
                    line.count == HubPull.lineLength,
                    let position = Int64(parts[1]), (0...JSONReader.largestInteger).contains(position)
                else { return nil }
                self.init(line: line, position: position)
                // Only the canonical form of an id is accepted.
                guard self.id == id else { return nil }
            }

            var id: String { "\(Hexadecimal.text(line)):\(position)" }
        }
    }
#endif
