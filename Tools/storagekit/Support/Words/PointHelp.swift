/// The notation of points, ranges and targets, for people and for programs that use the same one.
enum PointHelp {
    static let text = """
        POINTS in history, wherever a command takes one:

          @1234, @1234~          a position; the state just before it
          t:77                   commit 77
          2024-05-01T10:00:00Z   a time; without an offset it is in the zone of --time
          2024-05-01             the start of a day; also "2024-05-01 10:00"
          today, "yesterday 14:00"
          -2h, -1d12h, now       that long ago, in w d h m s
          head, head~5, head^    the newest commit; commits before it
          tag:NAME, tag:NAME~2   what was tagged; commits before it

        RANGES: A..B is what came after A, up to and including B; A.. ends at the head, ..B begins with the first event.

        TARGETS: users is a table, users/42 a row, users/42#name a cell. Write %2F for / in a table's name, %23 for #, \
        %2C for a comma inside one part of a key of several columns, and %25 for a percent sign before such a code. \
        A key that itself contains such a code is also found as written; if two rows match, both are listed. A printed \
        name always finds its row; the id from JSON does unless it is another row's printed name: seats/x%252Cy,1 and \
        seats/x%2Cy,1.

        ZONE: on a terminal, times are read and shown in your time zone (TZ), elsewhere in UTC; --time utc or --time local \
        decides, and so does STORAGEKIT_TIME. A time that clocks show twice is the first one. JSON, CSV and Markdown always \
        have UTC.

        """
}
