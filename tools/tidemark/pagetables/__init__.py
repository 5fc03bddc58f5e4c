"""Page tables and TLBs of several designs, under the references of a trace."""
