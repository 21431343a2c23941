# An agent that speaks ACP: the first time it calls $1 tools as fast as it is read and then hangs; taken up again, it is done.
while read -r line; do
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}' ;;
    *'"session/new"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"c1"}}' ;;
    *'"session/prompt"'*)
      id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/' | head -n 1)
      if [ ! -e called ]; then
        touch called
        awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) {
          u = "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"c1\",\"update\":";
          printf "%s{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t%d\",\"title\":\"cargo test\",\"status\":\"in_progress\"}}}\n", u, i;
          printf "%s{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t%d\",\"status\":\"completed\",\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"test result: ok\"}}]}}}\n", u, i;
          printf "%s{\"sessionUpdate\":\"usage_update\",\"used\":%d,\"size\":1000000}}}\n", u, 10000 + i % 500;
        } }'
        touch hangs
        exec sleep 600
      fi
      touch done
      echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"stopReason":"end_turn"}}' ;;
  esac
done
