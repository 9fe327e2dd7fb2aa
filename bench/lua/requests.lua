-- Generates the requests of all benchmarks. The arguments after `--` are settings, name=value:
--   accounts  a file of "host key [etag]" lines, in random order
--   shape     list: the same URL for every account; cold: pages by orders of fields; one: records by id; create
--   path, query, pages, ids   parts of the URLs; orders: a file with orders of fields, forms: the number of orders to use
--   start     the number of requests sent before, so that this run continues with the next ones
--   count     counts responses by status. This slows wrk down, so it is used only before the measured runs

local threads = {}

function setup(thread)
  thread:set("index", #threads)
  threads[#threads + 1] = thread
end

local function lines(path, max)
  local all = {}
  for line in io.lines(path) do
    if #all < (max or math.huge) then all[#all + 1] = line end
  end
  return all
end

local function heads(path)
  local all = {}
  for i, line in ipairs(lines(path)) do
    local host, key, etag = line:match("^(%S+) (%S+) ?(.*)$")
    local condition = etag ~= "" and "If-None-Match: " .. etag .. "\r\n" or ""
    all[i] = " HTTP/1.1\r\nHost: " .. host .. "\r\nAuthorization: Bearer " .. key .. "\r\n" .. condition
  end
  return all
end

-- Each shape returns the number of distinct requests, and a function that returns the request at an index.
local shapes = {}

function shapes.list(set, head)
  local ready = {}
  for i, lines in ipairs(head) do ready[i] = "GET " .. set.path .. lines .. "\r\n" end
  return #ready, function(at) return ready[at + 1] end
end

function shapes.cold(set, head)
  local orders, pages, accounts = lines(set.orders, tonumber(set.forms)), tonumber(set.pages), #head
  local before = "GET " .. set.path .. "?" .. set.query .. "limit=10&page="
  return accounts * pages * #orders, function(at)
    local rest = math.floor(at / accounts)
    local order = orders[math.floor(rest / pages) + 1]
    return before .. (rest % pages + 1) .. "&fields=" .. order .. head[at % accounts + 1] .. "\r\n"
  end
end

function shapes.one(set, head)
  local orders, ids, accounts = lines(set.orders, tonumber(set.forms)), tonumber(set.ids), #head
  return accounts * ids * #orders, function(at)
    local rest = math.floor(at / accounts)
    local order = orders[math.floor(rest / ids) + 1]
    return "GET " .. set.path .. "/" .. (rest % ids + 1) .. "?fields=" .. order .. head[at % accounts + 1] .. "\r\n"
  end
end

function shapes.create(set, head)
  local body = "Content-Type: application/json\r\nContent-Length: " .. #set.body .. "\r\n\r\n" .. set.body
  local ready = {}
  for i, lines in ipairs(head) do ready[i] = "POST " .. set.path .. lines .. body end
  return #ready, function(at) return ready[at + 1] end
end

local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end

-- A stride near the golden ratio of the count and coprime to it: every request is sent once before any is repeated, and
-- consecutive requests are spread evenly over all of them.
local function strideOf(count)
  local stride = math.max(1, math.floor(count * 0.6180339887))
  while gcd(stride, count) ~= 1 do stride = stride + 1 end
  return stride
end

local space, make, at, stride

function init(args)
  local set = {}
  for _, arg in ipairs(args) do
    local name, value = arg:match("^(%w+)=(.*)$")
    if name then set[name] = value end
  end
  space, make = shapes[set.shape](set, heads(set.accounts))
  stride = strideOf(space)
  distinct = space
  local first = tonumber(set.start) + index * math.floor(space / tonumber(set.threads))
  at = (first % space) * stride % space
  ok, created, unchanged, other = 0, 0, 0, 0
  if set.count then
    response = function(status)
      if status == 200 then ok = ok + 1
      elseif status == 201 then created = created + 1
      elseif status == 304 then unchanged = unchanged + 1
      else other = other + 1 end
    end
  end
end

function request()
  at = (at + stride) % space
  return make(at)
end

function done(summary, latency)
  local count = { ok = 0, created = 0, unchanged = 0, other = 0 }
  for _, thread in ipairs(threads) do
    for name in pairs(count) do count[name] = count[name] + thread:get(name) end
  end
  local e = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"space":%d,"seconds":%.6f,"bytes":%d,"broken":%d,"errors":%d,"p50Ms":%.3f,"p95Ms":%.3f,"p99Ms":%.3f,'
      .. '"statuses":{"200":%d,"201":%d,"304":%d,"other":%d}}\n',
    summary.requests, threads[1]:get("distinct"), summary.duration / 1e6, summary.bytes, e.connect + e.read + e.write + e.timeout, e.status,
    latency:percentile(50) / 1e3, latency:percentile(95) / 1e3, latency:percentile(99) / 1e3,
    count.ok, count.created, count.unchanged, count.other))
end
