select(.type == "record.ended")
| "\(.published) recorded, \(.played // 0) played"
