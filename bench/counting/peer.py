"""Times barvinok, through islpy: reads one set a line, answers with seconds and a value."""

import sys
import time

import islpy


def main():
    """Answers each line `repeats TAB set` with the median time of `card`."""
    for line in sys.stdin:
        repeats, text = line.rstrip("\n").split("\t")
        domain = islpy.Set(text)
        times = []
        for _ in range(int(repeats)):
            start = time.perf_counter()
            count = domain.card()
            times.append(time.perf_counter() - start)
        point = islpy.Point.zero(count.get_domain_space())
        for index in range(count.dim(islpy.dim_type.param)):
            point = point.set_coordinate_val(islpy.dim_type.param, index, islpy.Val(17 + index))
        value = count.eval(point)
        print(sorted(times)[len(times) // 2], len(count.get_pieces()), value, flush=True)


main()
