# pragma version ~=0.4.3
# pragma evm-version paris
# pragma optimize gas
"""
@title The roots of one transparency log, in the order in which it grew
@license Apache-2.0
@notice The publisher adds the root of a larger tree. Nobody, the publisher included, can change or
        remove what was added: there is no owner, no upgrade and no way to destroy the contract.
@dev A reader compares code and creation with what SUPM ships; `born` is where to look.
"""

event Anchored:
    index: indexed(uint256)
    size: indexed(uint64)
    root: indexed(bytes32)
    publisher: address
    time: uint256

struct Record:
    index: uint256
    size: uint64
    root: bytes32
    time: uint256
    height: uint256

PAGE: constant(uint256) = 64
LOW: constant(uint256) = 2**64 - 1

log_id: public(immutable(bytes32))
publisher: public(immutable(address))
born: public(immutable(uint256))

count: public(uint256)
sizes: public(HashMap[uint256, uint64])
roots: public(HashMap[uint64, bytes32])
# Index, time and height of the block, 64 bits each: one slot of storage costs as much as three.
facts: HashMap[uint64, uint256]


@deploy
def __init__(log_hash: bytes32):
    log_id = log_hash
    publisher = msg.sender
    born = block.number


@external
def anchor(size: uint64, root: bytes32):
    assert msg.sender == publisher, "only the publisher may anchor"
    assert size > self._latest(), "size must be larger than the last anchored size"
    assert root != empty(bytes32), "root must not be zero"
    index: uint256 = self.count
    self.count = index + 1
    self.sizes[index] = size
    self.roots[size] = root
    self.facts[size] = index << 128 | block.timestamp << 64 | block.number
    log Anchored(index=index, size=size, root=root, publisher=msg.sender, time=block.timestamp)


@external
@view
def latest() -> uint64:
    """
    @notice The last anchored size, or 0 where nothing is anchored.
    """
    return self._latest()


@external
@view
def times(size: uint64) -> uint256:
    """
    @notice The time of the block in which a size was anchored, or 0.
    """
    return self._record(size).time


@external
@view
def record(size: uint64) -> Record:
    """
    @notice All that is known of a size; the root is zero where it was not anchored.
    """
    return self._record(size)


@external
@view
def page(start: uint256) -> DynArray[Record, PAGE]:
    """
    @notice Up to 64 records, from the one with this index on.
    """
    found: DynArray[Record, PAGE] = []
    end: uint256 = min(self.count, start + PAGE)
    for index: uint256 in range(start, max(start, end), bound=PAGE):
        found.append(self._record(self.sizes[index]))
    return found


@internal
@view
def _latest() -> uint64:
    # Sizes start at 1, so that the size before the first is one that nobody can anchor.
    return 0 if self.count == 0 else self.sizes[self.count - 1]


@internal
@view
def _record(size: uint64) -> Record:
    facts: uint256 = self.facts[size]
    return Record(
        index=facts >> 128,
        size=size,
        root=self.roots[size],
        time=facts >> 64 & LOW,
        height=facts & LOW,
    )
