#if STORAGE_SERVER
    extension String {
        /// The elements of a header that is a list, in lower case. Source: RFC 9110, section 5.6.1.
        var headerList: [String] { split(separator: ",").map { $0.trimmed.lowercased() } }
    }

    extension StringProtocol where SubSequence == Substring {
        /// The text without whitespace at its ends.
        var trimmed: Substring {
            var rest = self[...]
            while rest.first?.isWhitespace == true { rest.removeFirst() }
            while rest.last?.isWhitespace == true { rest.removeLast() }
            return rest
        }
    }
#endif
