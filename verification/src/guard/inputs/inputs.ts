import type { Context } from '../../check.ts'
import { filters } from './filters.ts'
import { filterParts, type RequestPart, requestParts, type Sender } from './request-parts.ts'
import type { Senders } from './senders.ts'
import { shapes } from './texts.ts'

/** One hostile request. */
export interface Input {
  readonly name: string
  /** Built when it is sent, because all messages together take gigabytes. */
  readonly message: () => Buffer
}

/** A quick run uses every twelfth shape in each part, different ones in the next part. */
export function inputsOf(context: Context, { large, small, anonymous }: Senders): Input[] {
  const every = context.size(1, 12)
  return [
    ...filterParts.flatMap((part, at) =>
      Object.entries(filters)
        .filter((_, n) => (n + at) % context.size(1, 3) === 0)
        .flatMap(([what, filter]) =>
          [large, small].map((sender) => inputOf(part, what, () => filter, sender)),
        ),
    ),
    ...requestParts.flatMap((part, at) =>
      shapes
        .filter((_, n) => (n + at) % every === 0)
        .flatMap((shape) =>
          [large, anonymous].map((sender) =>
            inputOf(part, shape.name, () => shape.of(part.capacity), sender),
          ),
        ),
    ),
  ]
}

function inputOf(part: RequestPart, shape: string, text: () => string, sender: Sender): Input {
  return { name: `${part.name}, ${sender.name}: ${shape}`, message: () => part.message(text(), sender) }
}
