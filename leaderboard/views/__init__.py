"""What boards, the front page and the sweep show, ready for the templates."""
