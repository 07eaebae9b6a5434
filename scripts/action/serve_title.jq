select(.type == "serve.ended")
| "\(.served) served, \(.missed) missed, \(.refused) rejected, \(.unused | length) unused"
