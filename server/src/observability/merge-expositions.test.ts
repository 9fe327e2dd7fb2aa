import { expect, it } from 'vitest'
import { mergeExpositions } from './merge-expositions.ts'

const one = `# HELP target_info Target metadata
# TYPE target_info gauge
target_info{worker="1"} 1
# HELP reads_total Reads.
# TYPE reads_total counter
reads_total{source="read",worker="1"} 3
reads_total{source="cached",worker="1"} 4
# HELP seconds Duration.
# TYPE seconds histogram
seconds_count{worker="1"} 1
seconds_bucket{worker="1",le="+Inf"} 1
`
const two = `# HELP reads_total Reads.
# TYPE reads_total counter
reads_total{source="read",worker="2"} 5
# HELP up Up.
# TYPE up gauge
up{worker="2"} 1
`

it('puts the samples of one metric next to each other, with one description', () => {
  expect(mergeExpositions([one, two])).toBe(`# HELP target_info Target metadata
# TYPE target_info gauge
target_info{worker="1"} 1
# HELP reads_total Reads.
# TYPE reads_total counter
reads_total{source="read",worker="1"} 3
reads_total{source="cached",worker="1"} 4
reads_total{source="read",worker="2"} 5
# HELP seconds Duration.
# TYPE seconds histogram
seconds_count{worker="1"} 1
seconds_bucket{worker="1",le="+Inf"} 1
# HELP up Up.
# TYPE up gauge
up{worker="2"} 1
`)
})
