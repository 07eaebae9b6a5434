# Lines for people: misses with their differences, broken rules, refused connections, unused exchanges, errors.
if .type == "miss" then
  .message, (.differences[1:][] | "  also differs at \(.path): recorded \(.recorded), received \(.received)")
elif .type == "refused" or .type == "warning" then "request \(.request): rule \(.rule): \(.message)"
elif .type == "turned_away" or .type == "error" then .message
elif .type == "serve.ended" then .unused[] | "unused: exchange \(.number) of \(.fixture)"
else empty
end
