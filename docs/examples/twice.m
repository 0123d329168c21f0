// The same layer twice: whatever it costs, it should cost the same both times.
Network example {
  Layer first {
    Type: CONV
    Dimensions { K: 64, C: 64, Y: 56, X: 56, R: 3, S: 3 }
    Dataflow {
      SpatialMap(1,1) K;
      TemporalMap(16,16) C;
      TemporalMap(54,54) Y';
      TemporalMap(54,54) X';
      TemporalMap(3,3) R;
      TemporalMap(3,3) S;
      Cluster(16,P);
      TemporalMap(1,1) K;
      SpatialMap(1,1) C;
      TemporalMap(54,54) Y';
      TemporalMap(54,54) X';
      TemporalMap(3,3) R;
      TemporalMap(3,3) S;
    }
  }
  Layer second {
    Type: CONV
    Dimensions { K: 64, C: 64, Y: 56, X: 56, R: 3, S: 3 }
    Dataflow {
      SpatialMap(1,1) K;
      TemporalMap(16,16) C;
      TemporalMap(54,54) Y';
      TemporalMap(54,54) X';
      TemporalMap(3,3) R;
      TemporalMap(3,3) S;
      Cluster(16,P);
      TemporalMap(1,1) K;
      SpatialMap(1,1) C;
      TemporalMap(54,54) Y';
      TemporalMap(54,54) X';
      TemporalMap(3,3) R;
      TemporalMap(3,3) S;
    }
  }
}
