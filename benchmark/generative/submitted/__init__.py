"""Generators that were submitted: their images, given or drawn here, and their results.

``measure.score_generator`` measures one; ``record`` makes its result. What a submission may hold is
in ``benchmark.submissions``, which loads nothing heavy.
"""
