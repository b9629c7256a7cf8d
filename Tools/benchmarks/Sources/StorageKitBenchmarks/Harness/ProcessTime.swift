import Foundation

/// CPU time used so far by this process and by the children it has waited for.
enum ProcessTime {
    static func cpuSeconds() -> Double {
        // Linux imports the two constants as an enumeration, Darwin as plain integers.
        #if os(Linux)
            let (own, children) = (RUSAGE_SELF.rawValue, RUSAGE_CHILDREN.rawValue)
        #else
            let (own, children) = (RUSAGE_SELF, RUSAGE_CHILDREN)
        #endif
        return [own, children].reduce(0) { sum, target in
            var usage = rusage()
            getrusage(target, &usage)
            return sum + seconds(usage.ru_utime) + seconds(usage.ru_stime)
        }
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
    }
}
